import { messageOf } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { compileSchedule, type Occurrences } from '../cron/occurrences.ts';
import type { ScheduleRow } from '../store.ts';
import { decide } from './decide.ts';

/** What deciding needs: no message and no payload, which go from table to table without leaving the database. */
export type DueRow = Pick<ScheduleRow, 'id' | 'cron_expression' | 'timezone' | 'catch_up'> & {
  /** Its `next_run_at`, in milliseconds since 1970. */
  due: number;
  /** False where the agent is gone, which a foreign key should make impossible. */
  has_agent: boolean;
  /** The database's time, the same one that said what is due, in milliseconds since 1970. */
  now: number;
};

/** Occurrences that become no Work Item, recorded together: the first of them, how many and why. */
export interface Skip {
  /** Of its record: older ones first, which is the order in which the records are listed. */
  id: string;
  from: number;
  count: number;
  reason: string;
}

/** What becomes of one claimed schedule. Times in milliseconds since 1970. */
export interface Move {
  id: string;
  /** The `next_run_at` that was claimed: the schedule advances only from there. */
  due: number;
  /** Null where there is none, or none can be computed: the schedule then rests until it is edited. */
  next: number | null;
  /** The latest occurrence that is dealt with. */
  last: number;
  /** The occurrence that becomes a Work Item, with that one's id; null where none does. */
  fire: { workItemId: string; at: number; outcome: 'fired' | 'caught_up' } | null;
  skips: readonly Skip[];
}

const none: readonly Skip[] = [];

const skip = (from: number, count: number, reason: string): Skip => ({ id: newId(), from, count, reason });

const occurrencesOf = (row: DueRow): Occurrences | string => {
  try {
    return compileSchedule(row.cron_expression, row.timezone);
  } catch (error) {
    return messageOf(error);
  }
};

/**
 * Say what becomes of a schedule that is due, by product, section 7. `obstacle` is why no Work Item can be made of
 * it, where that is known: the occurrence that would have fired is skipped for that reason, and the next one comes.
 */
export const planMove = (row: DueRow, graceMs: number, obstacle: string | null): Move => {
  const { id, due } = row;
  const occurrences = occurrencesOf(row);
  if (typeof occurrences === 'string') {
    // Nobody can say when it is due next, nor what was due since.
    return { id, due, next: null, last: due, fire: null, skips: [skip(due, 1, occurrences)] };
  }
  const rule = { catchUp: row.catch_up, graceMs };
  const { fire, skip: older, latest: last, next } = decide(occurrences, due, row.now, rule);
  const missed = older ? [skip(older.from, older.count, 'missed')] : none;
  const move = { id, due, next, last };
  const why = obstacle ?? (row.has_agent ? null : 'the agent does not exist');
  if (!fire) return { ...move, fire, skips: missed };
  if (why !== null) return { ...move, fire: null, skips: [...missed, skip(fire.at, 1, why)] };
  return { ...move, fire: { workItemId: newId(), ...fire }, skips: missed };
};
