import type { Executor } from '../../database/index.ts';
import { LocalClock } from '../../lib/times.ts';
import { findScheduling, listOutages } from '../../replicas/index.ts';
import { workItemCalls } from '../../work-items/index.ts';
import { listChangesAt } from '../definition-store.ts';
import { isLate } from '../lateness.ts';
import { findFollowers, type OccurrenceRow } from '../occurrence-store.ts';
import { reasonOf, skipCauseOf } from './sentences.ts';

/** An occurrence with the zone in whose times its reason is written. */
type Reasoned = OccurrenceRow & { timezone: string };

/** Limit of the outages in the span of one response; more are not told apart. */
const mostOutages = 1_000;

const isDelayed = (row: OccurrenceRow): boolean => {
  if (row.outcome === 'fired') return isLate(row);
  return row.outcome === 'caught_up' || skipCauseOf(row) === 'missed';
};

const keyOf = (scheduleId: string, at: Date): string => `${scheduleId} ${at.getTime()}`;

/**
 * Returns why each of `rows` was skipped, late or caught up, as a sentence with times of its zone; null for what fired on
 * time or was run by hand. `now` is the instant by which dates need no year.
 */
export const reasonsOf = async (
  executor: Executor,
  rows: readonly Reasoned[],
  now: number,
): Promise<(string | null)[]> => {
  const delayed = rows.filter(isDelayed);
  const missed = delayed.filter((row) => row.outcome === 'skipped');
  const changed = rows.filter((row) => ['paused', 'edited'].includes(skipCauseOf(row) ?? ''));
  const first = Math.min(...delayed.map((row) => row.scheduled_for.getTime()));
  const last = Math.max(...delayed.map((row) => row.at.getTime()));
  const circumstances =
    delayed.length === 0
      ? { outages: [], knownFrom: new Date(now) }
      : {
          outages: await listOutages(executor, new Date(first), new Date(last), mostOutages),
          knownFrom: (await findScheduling(executor)).known_from,
        };
  const followers = missed.length === 0 ? new Map() : await findFollowers(executor, missed);
  const changes = changed.length === 0 ? [] : await listChangesAt(executor, changed);
  const overlapping = rows.flatMap(({ running_work_item_id: id }) => id ?? []);
  const running = overlapping.length === 0 ? [] : await workItemCalls.findStarts(executor, overlapping);
  const runningBy = new Map(running.map((item) => [item.id, item]));
  const changeAt = new Map(changes.map((row) => [keyOf(row.schedule_id, row.from_at), row]));
  return rows.map((row) => {
    const change = changeAt.get(keyOf(row.schedule_id, row.at));
    const facts = {
      circumstances,
      change,
      follower: followers.get(row.id),
      running: runningBy.get(row.running_work_item_id ?? ''),
    };
    return reasonOf(row, facts, new LocalClock(row.timezone, now));
  });
};
