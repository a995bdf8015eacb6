import { agentCalls } from '../../agents/index.ts';
import { audit } from '../../audit/index.ts';
import { type Database, type Executor, sql, type Tx } from '../../database/index.ts';
import { ApiError, messageOf, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import type { Actor } from '../../lib/principal.ts';
import type { WorkItemSearch } from '../search/conditions.ts';
import { listMatchingIds } from '../search/search.ts';
import { type Action, allowedActions, leadsToPending, type Status } from '../states.ts';
import { findWorkItems } from '../store.ts';
import { applyToItem } from '../work-items.ts';
import {
  countOutlooks,
  insertBulkAction,
  type LockedChunk,
  lockNextChunk,
  type NewBulkAction,
  type Refused,
  requestCancel,
  updateProgress,
  wakeBulkActions,
} from './store.ts';

/** Limit of one bulk action. */
export const mostMatched = 100_000;
/** Number of Work Items up to which the action is complete before the response. */
export const mostAtOnce = 100;
/** One transaction: few enough that nothing waits long for the rows that it locks. */
const chunkSize = 25;

/** Selection of Work Items. */
export type Selection = { ids: readonly string[] } | { filter: WorkItemSearch };

interface Selected {
  /** Work Items that exist, in the order of their creation. */
  ids: string[];
  /** Number of Work Items that were asked for. */
  matched: number;
  refused: Refused;
}

const select = async (executor: Executor, selection: Selection): Promise<Selected> => {
  const given = 'ids' in selection ? [...new Set(selection.ids)] : null;
  const search = given ? { ids: given } : (selection as { filter: WorkItemSearch }).filter;
  const ids = await listMatchingIds(executor, search, mostMatched + 1);
  if (ids.length > mostMatched) {
    const message = `matches more than ${mostMatched.toLocaleString('en')} Work Items: narrow it`;
    throw unprocessable([{ path: 'filter', message }]);
  }
  const gone = given ? given.length - ids.length : 0;
  return { ids, matched: ids.length + gone, refused: gone > 0 ? { GONE: gone } : {} };
};

/** Throws 412 with `matched` unless as many match as the caller has seen. */
const requireCount = ({ matched }: Selected, expected: number | undefined): void => {
  if (expected === undefined || expected === matched) return;
  throw new ApiError(
    'precondition_failed',
    `${matched} Work Items match now, not ${expected}. Look at them again, and repeat the request with that number.`,
    { matched },
  );
};

const add = (refused: Refused, status: keyof Refused, n = 1): void => {
  refused[status] = (refused[status] ?? 0) + n;
};

/** Returns the effect that a bulk action would have at present. */
export const foresee = async (
  executor: Executor,
  selection: Selection,
  action: Action,
  message: string | undefined,
  expected: number | undefined,
): Promise<{ matched: number; would_change: number; refused: Refused }> => {
  const selected = await select(executor, selection);
  requireCount(selected, expected);
  const { ids, matched, refused } = selected;
  let would_change = 0;
  for (const one of await countOutlooks(executor, ids)) {
    const undecided = action === 'continue' && one.waits_for_decision && !message;
    const allowed = allowedActions(one.status, one.agent_exists).includes(action);
    if (allowed && !undecided) would_change += one.n;
    else add(refused, one.status, one.n);
  }
  return { matched, would_change, refused };
};

/** Records a bulk action, with the Work Items that match now. Throws 412 unless they are `expected`. */
export const createBulkAction = async (
  tx: Tx,
  actor: Actor,
  selection: Selection,
  {
    action,
    message,
    expected,
  }: { action: Action; message: string | undefined; expected: number | undefined },
): Promise<{ id: string; matched: number }> => {
  const selected = await select(tx, selection);
  requireCount(selected, expected);
  const { ids, matched, refused } = selected;
  const asked = 'ids' in selection ? { ids: matched } : { filter: selection.filter };
  const bulk: NewBulkAction = {
    id: newId(),
    action,
    message: message ?? null,
    asked,
    actor,
    workItemIds: ids,
    matched,
    refused,
  };
  await insertBulkAction(tx, bulk);
  await wakeBulkActions(tx);
  return { id: bulk.id, matched };
};

/**
 * Returns whether another try may succeed: connections, resources, deadlocks and shutdowns. Anything else is a fault of the one
 * Work Item.
 */
const isTemporary = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return (
    typeof code === 'string' && (/^(08|40|53|55|57|58)...$/.test(code) || code === 'service_unavailable')
  );
};

/** The status for which the action was refused; undefined if it failed otherwise. */
const refusedStatus = (error: unknown, status: Status): keyof Refused | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'not_found') return 'GONE';
  return (error.context.status as Status | undefined) ?? status;
};

/** Does what is wanted to each of the Work Items of the chunk, whatever becomes of the others. */
const applyToChunk = async (tx: Tx, log: Logger, chunk: LockedChunk): Promise<void> => {
  const { id: bulkId, action, actor, message, refused, work_item_ids } = chunk;
  const items = new Map((await findWorkItems(tx, work_item_ids)).map((item) => [item.id, item]));
  // First and in one order: who deletes an agent locks it before its Work Items.
  const agents = leadsToPending(action) ? [...items.values()].map(({ agent_id }) => agent_id) : [];
  for (const agentId of [...new Set(agents)].sort()) await agentCalls.lockForShare(tx, agentId);
  const body = action === 'continue' && message !== null ? { message } : {};
  for (const workItemId of work_item_ids) {
    const item = items.get(workItemId);
    if (!item) {
      add(refused, 'GONE');
      continue;
    }
    await sql`savepoint work_item`.execute(tx);
    try {
      await applyToItem(tx, item, action, actor, body, { bulk_id: bulkId });
      chunk.done += 1;
      await sql`release savepoint work_item`.execute(tx);
    } catch (error) {
      if (isTemporary(error)) throw error;
      await sql`rollback to savepoint work_item`.execute(tx);
      const status = refusedStatus(error, item.status);
      if (status !== undefined) add(refused, status);
      else {
        chunk.failed += 1;
        log.error(
          { work_item_id: workItemId, bulk_id: bulkId, error: messageOf(error) },
          'bulk action failed',
        );
      }
    }
  }
};

/**
 * Carries out the next part of a bulk action, of the one with `id` or of any: one transaction, so that each Work Item is
 * moved and counted once, whatever becomes of this replica. Returns whether there was one that is not finished.
 */
export const carryOn = (db: Database, log: Logger, id: string | null = null): Promise<boolean> =>
  db.tx(async (tx) => {
    const chunk = await lockNextChunk(tx, chunkSize, id);
    if (!chunk) return false;
    const cancelled = chunk.cancel_requested_at !== null;
    if (!cancelled) {
      await applyToChunk(tx, log, chunk);
      chunk.position += chunk.work_item_ids.length;
    }
    const finished = cancelled || chunk.work_item_ids.length < chunkSize;
    await updateProgress(tx, chunk, finished);
    if (finished) {
      const { action, actor, asked, matched, done, refused, failed } = chunk;
      const details = { ...asked, matched, done, refused, failed, cancelled };
      await audit(tx, actor, `work_item.bulk_${action}`, chunk.id, details, 'work_item_bulk_action');
    }
    return true;
  });

/** Interval, in milliseconds, at which a replica looks for bulk actions that another one has left. */
const lookEveryMs = 15_000;

/** Carries out bulk actions, also those of replicas that are gone. */
export const bulkActionLoop = (db: Database, log: Logger): Loop =>
  new Loop({
    name: 'bulk actions',
    log,
    tick: async () => ((await carryOn(db, log)) ? 0 : lookEveryMs),
  });

/** Stops a bulk action before its next part. What is done stays. Throws 412 if it is finished. */
export const cancelBulkAction = async (
  tx: Tx,
  actor: Actor,
  {
    id,
    finished_at,
    cancel_requested_at,
  }: { id: string; finished_at: Date | null; cancel_requested_at: Date | null },
): Promise<void> => {
  if (cancel_requested_at !== null) return;
  const requested = finished_at === null && (await requestCancel(tx, id));
  if (!requested) throw new ApiError('precondition_failed', 'The bulk action is finished.');
  await audit(tx, actor, 'work_item_bulk_action.cancel', id);
  await wakeBulkActions(tx);
};
