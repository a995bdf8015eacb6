import { isolate } from '../../lib/prose.ts';
import { LocalClock, lengthOf } from '../../lib/times.ts';
import { paramsIn } from '../rules/narrowest.ts';
import type { AlertRule } from '../rules/store.ts';
import type { Condition } from './condition.ts';
import { listEvents, listOver, mayHaveEvents } from './occurrences.ts';

const limitMs = (rule: AlertRule): number => paramsIn(rule, 'late').seconds * 1_000;

/** Schedules whose occurrence fired late. */
export const late: Condition = {
  isOfEvents: true,
  subjectOf: () => 'schedule',
  ruleFor: (rules, { id, agentId }) => rules.narrowest({ scheduleId: id, agentId }),
  noun: 'schedule',
  together: (schedules) => `${schedules} fired late`,
  mayFind: ({ since }) => mayHaveEvents('late', new Date(since)),
  find: async ({ tx, now, since, rules }) => {
    const beyondMs = Math.min(...rules.enabled.map(limitMs));
    const events = await listEvents(tx, 'late', { since: new Date(since), beyondMs });
    return events.flatMap(({ scheduled_for, at, reason: _, followed: __, ...schedule }) => {
      const rule = rules.narrowest({ scheduleId: schedule.id, agentId: schedule.agentId });
      const lateness = at.getTime() - scheduled_for.getTime();
      if (!rule || lateness <= limitMs(rule) || at <= rule.created_at) return [];
      const clock = new LocalClock(schedule.timezone, now);
      const due = `${clock.near(scheduled_for.getTime(), now)} (${clock.name})`;
      return {
        rule,
        subject: schedule,
        cause: at.getTime(),
        title: `${isolate(schedule.name)} fired ${lengthOf(lateness)} late`,
        detail: `It was due at ${due}. More than ${lengthOf(limitMs(rule))} is late.`,
      };
    });
  },
  over: (look) => listOver(look, ({ rule }) => limitMs(rule)),
};
