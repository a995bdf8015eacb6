import { type Executor, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { scheduler } from './insertion.ts';
import { runningStatuses } from './states.ts';
import type { WorkItem } from './store.ts';
import { moveWhereBy } from './transitions.ts';

/**
 * The Work Items of a schedule that are running: what its `overlap` looks at before it fires.
 *
 * They are found by an index of those with `overlap_watched`. What a schedule with `queue` fires is not in it, so that
 * those firings do not write it; everything else that may make a Work Item of a schedule run sets the column: a firing
 * with another `overlap`, a run by hand, a restart and a continuation always, and the change of a schedule's `overlap`
 * for what is open then (`watchRunning`). Firing and that change exclude each other by the lock of the schedule.
 */

/** Condition of a running Work Item. One that waits for its `start_at` does not run yet. */
const isRunning = sql`w.overlap_watched and w.status in (${sql.join(runningStatuses.map((status) => sql.lit(status)))})
  and not (w.status = 'PENDING' and w.start_at is not null and w.start_at > (select platform_now()))`;

/** The id of the latest Work Item of the schedule that is running. What is not committed yet is not seen. */
export const runningOf = (
  scheduleId: RawBuilder<unknown>,
): RawBuilder<string> => sql`select w.id from work_items w
  where w.schedule_id = ${scheduleId} and ${isRunning} order by w.created_at desc, w.id desc limit 1`;

/**
 * Requests the cancel of the Work Items of these schedules that are running: PENDING and NEEDS_REVIEW ones are CANCELLED,
 * EXECUTING ones within 30 s. One that ends at the same moment keeps its result if that is committed first: the row is
 * locked, and looked at again. INDETERMINATE ones stay, because a person has to say what they did.
 */
export const cancelRunning = async (tx: Tx, scheduleIds: readonly string[]): Promise<void> => {
  if (scheduleIds.length === 0) return;
  const where = sql`w.schedule_id = any(${scheduleIds}::uuid[]) and w.status <> 'INDETERMINATE' and ${isRunning}`;
  const details = { reason: 'the next occurrence of its schedule is due' };
  await moveWhereBy(tx, 'cancel', where, { principal: scheduler, details });
};

/** Lets the schedule, which is locked, find its Work Items that are open now. */
export const watchRunning = async (tx: Tx, scheduleId: string): Promise<void> => {
  await sql`update work_items w set overlap_watched = true where w.schedule_id = ${scheduleId}
    and not w.overlap_watched
    and w.status in (${sql.join(runningStatuses.map((status) => sql.lit(status)))})`.execute(tx);
};

/** Start of a Work Item: its occurrence, or the time at which a person made it. */
export type WorkItemStart = Pick<WorkItem, 'id' | 'occurrence' | 'created_at'>;

export const findWorkItemStarts = async (
  executor: Executor,
  ids: readonly string[],
): Promise<WorkItemStart[]> => {
  const { rows } = await sql<WorkItemStart>`
    select id, occurrence, created_at from work_items where id = any(${ids}::uuid[])`.execute(executor);
  return rows;
};
