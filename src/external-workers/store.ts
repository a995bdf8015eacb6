import { type Executor, sql, type Tx } from '../database/index.ts';
import type { WorkItem } from '../work-items/index.ts';

export const insertLease = async (
  tx: Tx,
  lease: { tokenHash: string; workItemId: string; fencing: number; leaseSeconds: number },
): Promise<void> => {
  await sql`insert into external_leases (token_hash, work_item_id, fencing, lease_seconds)
    values (${lease.tokenHash}, ${lease.workItemId}, ${lease.fencing}, ${lease.leaseSeconds})`.execute(tx);
};

/** State of the lease of a token, with the Work Item locked until the transaction ends. */
export interface LeaseState {
  /** Fencing token of the claim; null if the token is none of this Work Item's. */
  fencing: number | null;
  leaseSeconds: number | null;
  finishHash: string | null;
  /** The last claim is this one, and it was not finished. */
  isCurrent: boolean;
  /** True if no heartbeat came in time, though no one has taken the Work Item yet. */
  isExpired: boolean;
  cancelRequested: boolean;
  unsafeToolInFlight: boolean;
  conversationId: string;
  usage: WorkItem['usage'];
}

/**
 * Locks the Work Item and returns the state of one of its leases; undefined if there is no Work Item. Two statements: one
 * that has to wait for the lock would see the locked row as it is then, but the lease as it was before.
 */
export const lockLease = async (
  tx: Tx,
  workItemId: string,
  tokenHash: string,
): Promise<LeaseState | undefined> => {
  await sql`select from work_items where id = ${workItemId} for update`.execute(tx);
  const { rows } = await sql<LeaseState>`
    select l.fencing, l.lease_seconds as "leaseSeconds", l.finish_hash as "finishHash",
      coalesce(l.fencing = w.fencing and w.status = 'EXECUTING', false) as "isCurrent",
      coalesce(w.lease_expires_at <= platform_now(), false) as "isExpired",
      w.cancel_requested_at is not null as "cancelRequested", w.unsafe_tool_in_flight as "unsafeToolInFlight",
      w.conversation_id as "conversationId", w.usage
    from work_items w left join external_leases l on l.work_item_id = w.id and l.token_hash = ${tokenHash}
    where w.id = ${workItemId}`.execute(tx);
  return rows[0];
};

/** Remembers the finish that ended a lease, so that the same one is recognized when it comes again. */
export const updateFinishHash = async (tx: Tx, tokenHash: string, finishHash: string): Promise<void> => {
  await sql`update external_leases set finish_hash = ${finishHash} where token_hash = ${tokenHash}`.execute(
    tx,
  );
};

/**
 * Returns whether the agent of the Work Item is executed by the platform and no external worker ever claimed the Work Item: a
 * lease outlives a change of `execution`.
 */
export const isForPlatform = async (executor: Executor, workItemId: string): Promise<boolean> => {
  const { rows } = await sql`select from work_items w join agents a on a.id = w.agent_id
    where w.id = ${workItemId} and a.execution = 'platform'
      and not exists (select from external_leases l where l.work_item_id = w.id)`.execute(executor);
  return rows.length > 0;
};

/** Returns those of these agents that exist, with who executes their Work Items. */
export const findExecutions = async (
  executor: Executor,
  agentIds: readonly string[],
): Promise<{ id: string; execution: string }[]> =>
  executor.selectFrom('agents').select(['id', 'execution']).where('id', 'in', agentIds).execute();
