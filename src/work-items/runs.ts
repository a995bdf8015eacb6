import { agentSql } from '../agents/index.ts';
import { hasCallbacks, recordDeliveries } from '../callbacks/index.ts';
import { sentWithNext, sql, type Tx } from '../database/index.ts';
import { createRuns, type Lease, type Moved, type MoveReason } from '../runs/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { snapshotOf, transitionInsertion } from '../transition-events/index.ts';
import { eventInsertion, hasEvent, recordEvents } from './history-store.ts';
import { recordReviews } from './review-records.ts';
import type { Status } from './states.ts';
import { stepChanges, stepTrace } from './step-store.ts';
import { columns, type WorkItem, wakeWorkers } from './store.ts';

/** A Work Item whose status changed. */
type MovedItem = Moved<
  WorkItem & {
    /** True if callbacks may have to be notified. */
    notifies: boolean;
  }
>;

/** Returns whether no call of the Work Item that asked for input goes on. A failed one may: a person can continue it. */
const endsInput = ({ from_status, status, decisions }: MovedItem, action: string): boolean => {
  if (action === 'restart' || status === 'CANCELLED') return true;
  return (
    status === 'COMPLETED' &&
    (from_status !== 'EXECUTING' || (decisions?.some(({ input }) => input) ?? false))
  );
};

/**
 * Writes the records of a change of status in the transaction of the change: reviews, the history, the waterfall and the
 * notifications of callbacks. Since the end of an execution makes room for another Work Item of the agent, workers are
 * notified. The creation of a Work Item does the same inside its own statement (`insertion` in store.ts).
 */
const recordMoved = async (
  tx: Tx,
  rows: readonly MovedItem[],
  { action, principal, reviewEnd, details }: MoveReason<MovedItem>,
): Promise<void> => {
  if (rows.length === 0) return;
  await recordReviews(tx, rows, principal, reviewEnd);
  const ended = rows.filter((row) => endsInput(row, action)).map(({ id }) => id);
  await inputCalls.forget(tx, 'work_item_id', ended);
  const detailed = rows.map((row) => ({
    ...row,
    details: typeof details === 'function' ? details(row) : (details ?? {}),
  }));
  const moved = detailed.map(({ id, from_status: from, status: to, details }) => ({ id, from, to, details }));
  const changed = moved.filter(({ from, to }) => from !== to);
  // The rows are as this transaction has left them.
  const watched = sql`(select w.agent_id, w.status, c.from_status as previous_status, w.depth, ${snapshotOf('w')} as snapshot
    from unnest(${changed.map(({ id }) => id)}::uuid[], ${changed.map(({ from }) => from)}::text[]) as c(id, from_status)
    join work_items w on w.id = c.id)`;
  await sql`${sentWithNext} with ${stepChanges(action, detailed)}, watched as (${transitionInsertion(watched)})
    ${eventInsertion({ action, principal, moved })}`.execute(tx);
  const notifying = rows.filter((row) => row.notifies && row.status !== row.from_status);
  await recordDeliveries(
    tx,
    notifying.map(({ from_status, ...row }) => ({ ...row, previous_status: from_status })),
  );
  const claimable = rows.some(
    ({ from_status: from, status: to }) => to === 'PENDING' || (from === 'EXECUTING' && to !== from),
  );
  if (claimable) await wakeWorkers(tx);
};

/** Records a result that came after the lease was lost, once however often it comes. Nothing else changes. */
export const recordLateResult = async (
  tx: Tx,
  { id, fencing, by }: Required<Lease>,
  details: Record<string, unknown>,
): Promise<void> => {
  const { rows } = await sql<{ status: Status }>`
    select status from work_items where id = ${id} for update`.execute(tx);
  const late = { ...details, fencing };
  for (const { status } of rows) {
    if (await hasEvent(tx, id, 'late_result', late)) continue;
    const moved = [{ id, from: status, to: status, details: late }];
    await recordEvents(tx, { action: 'late_result', principal: by, moved });
  }
};

/** Work Items as runs. Their claims are in claims.ts. */
export const workItemRuns = createRuns<MovedItem>({
  table: 'work_items',
  columns: sql`${columns}, ${hasCallbacks} as notifies`,
  cancelColumn: 'cancel_requested_at',
  unsafeColumn: 'unsafe_tool_in_flight',
  onClaim: [
    sql`started_at = platform_now()`,
    sql`updated_at = platform_now()`,
    sql`budget_wait = null`,
    agentSql.pinAssignment(sql`coalesce(w.schedule_id, w.id)`),
  ],
  onMove: [sql`updated_at = platform_now()`],
  onBudgetWait: (wait) => [sql`budget_wait = ${wait}`],
  onEnd: (result, reason) => [sql`result = ${result}`, sql`review_reason = ${reason}`],
  contextCut: { read: sql`w.context_cut`, save: (cut) => ({ set: sql`context_cut = ${cut}` }) },
  onTrace: stepTrace,
  hasMessages: sql`exists (select from work_item_messages m
    where m.work_item_id = w.id and m.conversation_id = w.conversation_id)`,
  onMoved: recordMoved,
  onLate: recordLateResult,
});
