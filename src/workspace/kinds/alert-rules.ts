import { z } from 'zod';
import { type Alerts, alertRuleForm, type NewAlertRule } from '../../alerts/index.ts';
import { optional, text } from '../../http/index.ts';
import { nullable } from '../../resource/index.ts';
import type { Item, Kind, Run } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';

const { agent_id: _, schedule_id: __, ...own } = alertRuleForm.fields;

/** In a document a rule names its agent, or its schedule as that of an agent: `agent/key`. */
const subjects = { agent: optional(text(500), null), schedule: optional(text(1_000), null) };
const fields = {
  ...own,
  agent: nullable(text(500)),
  schedule: nullable(text(1_000)),
};

const [first, ...others] = alertRuleForm.body.options.map((option) =>
  option.omit({ agent_id: true, schedule_id: true }).extend(subjects),
);
const body = z.discriminatedUnion('kind', [first!, ...others]);

type Body = Omit<NewAlertRule, 'agent_id' | 'schedule_id'> & {
  agent: string | null;
  schedule: string | null;
};

const toIds = (run: Run, { agent, schedule }: Pick<Body, 'agent' | 'schedule'>) => ({
  agent_id: agent === null ? null : run.idOf('agent', agent),
  schedule_id: schedule === null ? null : run.idOf('schedule', schedule),
});

/** Alert rules. */
export const alertRuleKind = (alerts: Alerts): Kind =>
  resourceKind({
    fields,
    body,
    kind: 'alert_rule',
    key: 'alert_rules',
    list: async (executor, names) =>
      (await alerts.list(executor)).map(({ id, agent_id, schedule_id, ...values }) => ({
        id,
        values: {
          ...values,
          agent: agent_id && (names('agent').get(agent_id) ?? null),
          schedule: schedule_id && (names('schedule').get(schedule_id) ?? null),
        },
      })),
    references: ({ agent, schedule }: Item) => [
      // A rule is deleted with what it is about.
      ...(typeof agent === 'string'
        ? [{ path: 'agent', kind: 'agent' as const, name: agent, weak: true }]
        : []),
      ...(typeof schedule === 'string'
        ? [{ path: 'schedule', kind: 'schedule' as const, name: schedule, weak: true }]
        : []),
    ],
    create: (run, given) => {
      const { agent, schedule, ...values } = given as Body;
      const ids = toIds(run, { agent, schedule });
      return alerts.create(run.tx, run.actor, { ...values, ...ids }, run.leaving());
    },
    update: (run, id, given, _item, changed) => {
      const { agent, schedule, ...values } = given as Body;
      const ids = changed.has('agent') || changed.has('schedule') ? toIds(run, { agent, schedule }) : {};
      const own = Object.fromEntries(Object.entries(values).filter(([name]) => changed.has(name)));
      return alerts.update(run.tx, run.actor, id, { ...own, ...ids });
    },
    remove: ({ tx, actor }, { id }) => alerts.delete(tx, actor, id),
  });
