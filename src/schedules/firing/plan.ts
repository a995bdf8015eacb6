import { compileSchedule, type Occurrences } from '@agent-platform/cron';
import { messageOf } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lateAfterMs } from '../lateness.ts';
import type { LastOutcome, ScheduleRow } from '../store.ts';

/** Fields that a plan needs: not the message and the payload, which go from table to table inside the database. */
export type DueRow = Pick<ScheduleRow, 'id' | 'cron_expression' | 'timezone' | 'catch_up' | 'overlap'> & {
  /** Its `next_run_at`, in milliseconds since 1970. */
  due: number;
  /** The latest of its Work Items that are running; null if none is, or `overlap` is `queue`. */
  running: string | null;
  /** False if the agent is gone, which a foreign key should make impossible. */
  has_agent: boolean;
  /** The database's time, the same one that decided what is due, in milliseconds since 1970. */
  now: number;
};

/** Occurrences that become no Work Item, recorded together: the first of them, how many and why. */
export interface Skip {
  /** The id of the record. Ids are in the order of time, in which the records are listed: older skips come first. */
  id: string;
  from: number;
  count: number;
  reason: string;
  /** The Work Item because of which they are skipped, if it is one. */
  running?: string;
}

/** Plan for one claimed schedule. Times in milliseconds since 1970. */
export interface FiringPlan {
  id: string;
  /** The `next_run_at` that was claimed: the schedule advances only from there. */
  due: number;
  /** Null if there is none before 2101, or none can be computed: the schedule then waits until it is edited. */
  next: number | null;
  /** The latest occurrence that is handled. */
  last: number;
  /** The occurrence that becomes a Work Item, with the id of that; null if none does. */
  fire: { workItemId: string; at: number; outcome: 'fired' | 'caught_up' } | null;
  skips: readonly Skip[];
  /** The Work Items of the schedule that are running are to be cancelled first. */
  cancels: boolean;
}

/** Returns the outcome of the last occurrence of the schedule under this plan, at the time of its claim. */
export const lastOutcomeOf = ({ fire, skips }: FiringPlan, now: number): LastOutcome => {
  if (fire?.outcome === 'fired') return now - fire.at > lateAfterMs ? 'late' : 'on_time';
  if (fire) return 'caught_up';
  const reason = skips.at(-1)?.reason;
  return reason === 'missed' || reason === 'overlap' ? 'skipped' : 'blocked';
};

const none: readonly Skip[] = [];
/** No occurrence becomes a Work Item. */
const nothing = { fire: null, cancels: false } as const;

const skip = (from: number, count: number, reason: string): Skip => ({ id: newId(), from, count, reason });

/**
 * Returns the plan for one schedule. Only the latest of the occurrences from `due` up to now can fire: within the grace
 * always, later than that only with `catch_up`. The cost does not depend on how many there are.
 */
const plan = (
  row: DueRow,
  occurrences: Occurrences,
  graceMs: number,
  obstacle: string | null,
): FiringPlan => {
  const { id, due, now } = row;
  // `due` counts as an occurrence even if newer zone rules no longer know it.
  const last = Math.max(due, occurrences.previous(now) ?? due);
  const older = last > due ? 1 + occurrences.countBetween(due, last - 1) : 0;
  const next = occurrences.next(now);
  const late = now - last > graceMs;
  if (late && !row.catch_up) {
    return { id, due, next, last, ...nothing, skips: [skip(due, older + 1, 'missed')] };
  }
  const skips = older > 0 ? [skip(due, older, 'missed')] : none;
  const why = obstacle ?? (row.has_agent ? null : 'the agent does not exist');
  if (why !== null) return { id, due, next, last, ...nothing, skips: [...skips, skip(last, 1, why)] };
  const { running } = row;
  if (running !== null && row.overlap === 'skip') {
    const overlap = { ...skip(last, 1, 'overlap'), running };
    return { id, due, next, last, ...nothing, skips: [...skips, overlap] };
  }
  const outcome = late ? 'caught_up' : 'fired';
  const fire = { workItemId: newId(), at: last, outcome } as const;
  return { id, due, next, last, fire, skips, cancels: running !== null };
};

/**
 * Returns what becomes of a schedule that is due. `obstacle` is why no Work Item can be made of it, if that is known:
 * the occurrence that would have fired is skipped for that reason, and the next one comes.
 */
export const planFiring = (row: DueRow, graceMs: number, obstacle: string | null): FiringPlan => {
  try {
    return plan(row, compileSchedule(row.cron_expression, row.timezone), graceMs, obstacle);
  } catch (error) {
    // No one knows when it is due next, nor what was due since.
    const { id, due } = row;
    return { id, due, next: null, last: due, ...nothing, skips: [skip(due, 1, messageOf(error))] };
  }
};
