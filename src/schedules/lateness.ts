import { sql } from '../database/index.ts';
import type { OccurrenceRow } from './occurrence-store.ts';

/** A Work Item that was made later than this after its time is late, and a schedule that is due for longer is overdue. */
export const lateAfterMs = 5_000;
const lateAfter = sql`interval ${sql.lit(`${lateAfterMs / 1000} seconds`)}`;

/** Returns whether what fired was late. */
export const isLate = ({ at, scheduled_for }: Pick<OccurrenceRow, 'at' | 'scheduled_for'>): boolean =>
  at.getTime() - scheduled_for.getTime() > lateAfterMs;

/** `isLate` of rows of `occurrences`. */
export const lateRows = sql<boolean>`at - scheduled_for > ${lateAfter}`;

/** Schedules that are due and have not fired. It reads the head of the index of `next_run_at`. */
export const overdueRows = sql<boolean>`next_run_at < platform_now() - ${lateAfter}`;

/** Occurrences that should have fired and did not. The index of missed occurrences names this condition. */
export const missedRows = sql<boolean>`outcome = 'skipped' and reason = 'missed'`;

/** The status of rows of `occurrences` in a graph: the outcome, but what was missed is missing, and what fired is on time or late. */
export const graphedStatus = sql<'on_time' | 'late' | 'caught_up' | 'skipped' | 'manual' | 'missing'>`
  case when reason = 'missed' then 'missing' when outcome <> 'fired' then outcome
    when ${lateRows} then 'late' else 'on_time' end`;
