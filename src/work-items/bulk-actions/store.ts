import { type Executor, json, notify, sql, type Tx } from '../../database/index.ts';
import type { Actor } from '../../lib/principal.ts';
import type { Action, Status } from '../states.ts';

/** The channel that notifies replicas of a bulk action that begins. */
export const bulkActionsChannel = 'work_item_bulk_actions';

/** Number of Work Items that did not allow the action, by their status; `GONE`: they do not exist. */
export type Refused = Partial<Record<Status | 'GONE', number>>;

export interface BulkAction {
  id: string;
  action: Action;
  matched: number;
  done: number;
  refused: Refused;
  failed: number;
  created_at: Date;
  cancel_requested_at: Date | null;
  finished_at: Date | null;
}

const columns = sql`id, action, matched, done, refused, failed, created_at, cancel_requested_at, finished_at`;

export interface NewBulkAction {
  id: string;
  action: Action;
  message: string | null;
  /** The ids or the filter of the request, for the audit log. */
  asked: Record<string, unknown>;
  actor: Actor;
  workItemIds: readonly string[];
  matched: number;
  refused: Refused;
}

export const insertBulkAction = async (tx: Tx, bulk: NewBulkAction): Promise<void> => {
  const { id, action, message, asked, actor, workItemIds, matched, refused } = bulk;
  await sql`insert into work_item_bulk_actions (id, action, message, asked, actor, work_item_ids, matched, refused)
    values (${id}, ${action}, ${message}, ${json(asked)}::jsonb, ${json(actor)}::jsonb, ${workItemIds}::uuid[],
      ${matched}, ${json(refused)}::jsonb)`.execute(tx);
};

/** Notifies the replicas, when the transaction commits, that there is a bulk action to carry out. */
export const wakeBulkActions = (tx: Tx): Promise<void> => notify(tx, bulkActionsChannel);

export const findBulkAction = async (executor: Executor, id: string): Promise<BulkAction | undefined> => {
  const { rows } = await sql<BulkAction>`
    select ${columns} from work_item_bulk_actions where id = ${id}`.execute(executor);
  return rows[0];
};

/** The next Work Items of a bulk action. */
export interface LockedChunk
  extends Pick<
    BulkAction,
    'id' | 'action' | 'done' | 'refused' | 'failed' | 'matched' | 'cancel_requested_at'
  > {
  message: string | null;
  asked: Record<string, unknown>;
  actor: Actor;
  position: number;
  work_item_ids: string[];
}

/**
 * Locks a bulk action that is not finished, and reads its next `limit` Work Items: the one with `id`, waiting for its
 * lock, or else the oldest that no other replica is at work on. Undefined if there is none.
 */
export const lockNextChunk = async (
  tx: Tx,
  limit: number,
  id: string | null,
): Promise<LockedChunk | undefined> => {
  const which =
    id === null ? sql`order by id limit 1 for update skip locked` : sql`and id = ${id} for update`;
  const { rows } = await sql<LockedChunk>`
    select id, action, message, asked, actor, matched, position, done, refused, failed, cancel_requested_at,
      work_item_ids[position + 1 : position + ${limit}] as work_item_ids
    from work_item_bulk_actions where finished_at is null ${which}`.execute(tx);
  return rows[0];
};

/** Records how far a bulk action has come. The caller has its lock. */
export const updateProgress = async (
  tx: Tx,
  {
    id,
    position,
    done,
    refused,
    failed,
  }: Pick<LockedChunk, 'id' | 'position' | 'done' | 'refused' | 'failed'>,
  finished: boolean,
): Promise<void> => {
  const end = finished ? sql`, finished_at = platform_now(), work_item_ids = '{}'` : sql``;
  await sql`update work_item_bulk_actions set position = ${position}, done = ${done}, failed = ${failed},
    refused = ${json(refused)}::jsonb${end} where id = ${id}`.execute(tx);
};

/** Records that a bulk action is to stop. False if it is finished, or was to stop already. */
export const requestCancel = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`update work_item_bulk_actions set cancel_requested_at = platform_now()
    where id = ${id} and finished_at is null and cancel_requested_at is null returning 1`.execute(tx);
  return rows.length === 1;
};

const keptDays = sql.lit(7);

/** Deletes at most `limit` bulk actions that finished a week ago. Returns how many. */
export const deleteOldBulkActions = async (tx: Tx, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from work_item_bulk_actions where id in (
    select id from work_item_bulk_actions where finished_at < platform_now() - make_interval(days => ${keptDays})
    order by finished_at limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};

/** Preview of an action: the number of Work Items of each status, divided by all that decides the effect. */
export interface Outlook {
  status: Status;
  agent_exists: boolean;
  /** Tool calls wait for a decision. */
  waits_for_decision: boolean;
  n: number;
}

export const countOutlooks = async (executor: Executor, ids: readonly string[]): Promise<Outlook[]> => {
  const { rows } = await sql<Outlook>`
    select status, agent_exists, waits_for_decision, count(*)::integer as n from (
      select w.status, exists (select from agents a where a.id = w.agent_id) as agent_exists,
        coalesce(w.pending_approvals @> '[{"kind": "tool_call"}]', false) as waits_for_decision
      from work_items w where w.id = any(${ids}::uuid[])
    ) found group by status, agent_exists, waits_for_decision`.execute(executor);
  return rows;
};
