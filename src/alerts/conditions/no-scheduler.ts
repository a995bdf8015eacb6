import { sql } from '../../database/index.ts';
import { LocalClock } from '../../lib/times.ts';
import { findScheduling } from '../../replicas/index.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { AlertRule } from '../rules/store.ts';
import type { Condition } from './condition.ts';

const limitMs = (rule: AlertRule): number => paramsIn(rule, 'no_scheduler').seconds * 1_000;

/** No replica has been scheduling for a while. */
export const noScheduler: Condition = {
  subjectOf: () => null,
  ruleFor: (rules) => rules.narrowest({}),
  noun: 'workspace',
  together: () => 'No replica is scheduling',
  // One that was scheduling within that time is enough.
  mayFind: ({ now, rules }) => {
    const since = new Date(now - Math.min(...rules.enabled.map(limitMs)));
    return sql`not exists (select from replicas where scheduling_at >= ${since} and scheduling_at <= platform_now())`;
  },
  find: async ({ tx, now, rules }) => {
    const rule = rules.narrowest({});
    if (!rule) return [];
    const { last_at, known_from } = await findScheduling(tx);
    const last = (last_at ?? known_from).getTime();
    if (now - countedFrom(rule, last) <= limitMs(rule)) return [];
    const when = last_at
      ? `The last one was seen at ${new LocalClock('UTC', now).near(last, now)} (UTC).`
      : 'None was ever seen.';
    return [
      {
        rule,
        subject: null,
        cause: last,
        title: 'No replica is scheduling',
        detail: `${when} No schedule fires; what falls due waits.`,
      },
    ];
  },
};
