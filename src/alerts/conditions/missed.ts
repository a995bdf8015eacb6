import { sql } from '../../database/index.ts';
import { isolate, sentence } from '../../lib/prose.ts';
import { LocalClock } from '../../lib/times.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { AlertRule } from '../rules/store.ts';
import type { AskedLook, Condition, Finding, Look } from './condition.ts';
import {
  listBlocked,
  listEvents,
  listOver,
  listOverdue,
  listWithoutNext,
  mayHaveEvents,
  mayHaveIdle,
  type ScheduleSubject,
} from './occurrences.ts';

const second = 1_000;

/** Schedules that are due and have not fired, whose occurrences were recorded as missed, or that cannot fire. */

const graceOf =
  ({ settings }: Pick<Look, 'settings'>) =>
  (rule: AlertRule): number =>
    (paramsIn(rule, 'missed').grace_seconds ?? settings.SCHEDULE_MISFIRE_GRACE_SECONDS) * second;

/** What was missed of a schedule. Times are in milliseconds since 1970. */
interface Missed {
  schedule: ScheduleSubject;
  /** When it should have fired. */
  due: number;
  cause: number;
  says: 'overdue' | 'missed' | 'blocked';
  detail: string;
}

const titles = {
  overdue: (name: string, due: string) => `${name} was due at ${due} and has not fired`,
  missed: (name: string, due: string) => `${name} missed its occurrence of ${due}`,
  blocked: (name: string) => `${name} cannot fire`,
};

const toFinding = (rule: AlertRule, { schedule, due, cause, says, detail }: Missed, now: number): Finding => {
  const clock = new LocalClock(schedule.timezone, now);
  return {
    rule,
    subject: schedule,
    cause,
    title: titles[says](isolate(schedule.name), `${clock.near(due, now)} (${clock.name})`),
    detail,
  };
};

/** What is due for longer than the least grace is overdue; events are read from so long ago as the most of them says. */
const timesOf = (look: AskedLook): { due: Date; from: Date; most: number } => {
  const graces = look.rules.enabled.map(graceOf(look));
  const most = Math.max(...graces);
  // One that was recorded at once counts when the grace of the rule is over.
  return { due: new Date(look.now - Math.min(...graces)), from: new Date(look.since - most), most };
};

const find = async (look: Look): Promise<Finding[]> => {
  const { tx, now, since, rules } = look;
  const graceMs = graceOf(look);
  const { due: overdue, from, most } = timesOf(look);
  const found = new Map<string, Finding>();
  /** `isIn`: whether it counts for the rule, which is the narrowest. The first finding of a schedule stays. */
  const add = (missed: Missed, isIn: (rule: AlertRule) => boolean): void => {
    const { schedule } = missed;
    const rule = rules.narrowest({ scheduleId: schedule.id, agentId: schedule.agentId });
    if (!rule || found.has(schedule.id) || !isIn(rule)) return;
    found.set(schedule.id, toFinding(rule, missed, now));
  };

  for (const { due, ...schedule } of await listOverdue(tx, overdue)) {
    const at = due.getTime();
    const detail = 'It fires, or is recorded as missed, as soon as a replica that schedules can do so.';
    add(
      { schedule, due: at, cause: at, says: 'overdue', detail },
      (rule) => countedFrom(rule, at) + graceMs(rule) < now,
    );
  }
  const events = await listEvents(tx, 'missed', { since: from, inTimeMs: most });
  for (const { scheduled_for, at, followed, reason: _, ...schedule } of events) {
    const [due, handled] = [scheduled_for.getTime(), at.getTime()];
    const detail = 'No replica was able to fire it in time, and it is not made up for.';
    add({ schedule, due, cause: handled, says: 'missed', detail }, (rule) => {
      const isBeyond = handled - due > graceMs(rule);
      return (
        handled > rule.created_at.getTime() &&
        due + graceMs(rule) < now &&
        (isBeyond ? handled > since : !followed)
      );
    });
  }
  for (const { scheduled_for, at, reason, followed: _, ...schedule } of await listBlocked(tx)) {
    const [due, handled] = [scheduled_for.getTime(), at.getTime()];
    const detail = sentence(reason ?? 'its Work Item could not be made');
    add(
      { schedule, due, cause: handled, says: 'blocked', detail },
      (rule) => handled > rule.created_at.getTime() && due + graceMs(rule) < now,
    );
  }
  for (const { since: from, ...schedule } of await listWithoutNext(tx)) {
    const at = from.getTime();
    const detail = 'No next time can be computed. It fires again after its definition has been changed.';
    add(
      { schedule, due: at, cause: at, says: 'blocked', detail },
      (rule) => countedFrom(rule, at) + graceMs(rule) < now,
    );
  }
  return [...found.values()];
};

export const missed: Condition = {
  isOfEvents: true,
  subjectOf: () => 'schedule',
  ruleFor: (rules, { id, agentId }) => rules.narrowest({ scheduleId: id, agentId }),
  noun: 'schedule',
  together: (schedules) => `${schedules} did not fire in time`,
  mayFind: (look) => {
    const { due, from } = timesOf(look);
    return sql`(${mayHaveIdle(due)} or ${mayHaveEvents('missed', from)})`;
  },
  find,
  over: (look) => {
    const graceMs = graceOf(look);
    return listOver(look, ({ rule }) => graceMs(rule));
  },
};
