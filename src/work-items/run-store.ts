import { json, sql, type Tx } from '../database/index.ts';
import type { NewApproval, StoredDecision } from './approvals.ts';
import type { Lease } from './leases.ts';
import { stepTrace } from './step-store.ts';
import type { WorkItemUsage } from './store.ts';

/** What the runtime stores of an attempt besides messages and transitions. */

/** What earlier attempts and people left for this one. */
export interface AttemptStart {
  /** The calls of the last reply that people approved. */
  decisions: StoredDecision[];
  /** The calls that must not be repeated and that were in flight when an earlier attempt ended. */
  unsafe_calls: NewApproval[];
  /** As the runtime stored it; null: nothing yet. */
  context_cut: unknown;
  tokens_before: number;
  cancel_requested: boolean;
}

const holds = ({ id, fencing }: Lease) =>
  sql`w.id = ${id} and w.fencing = ${fencing} and w.status = 'EXECUTING'`;

interface BegunRow {
  id: string;
  decisions: StoredDecision[] | null;
  unsafe_calls: NewApproval[] | null;
  context_cut: unknown;
  tokens_before: number;
  cancel_requested: boolean;
}

/**
 * Records the traces of attempts that begin, and returns what they begin with by the ids of the Work Items. Absent are
 * those whose leases were lost, and with `skipLocked` those that another transaction has locked.
 */
export const beginAttempts = async (
  tx: Tx,
  attempts: readonly (Lease & { traceId: string | null })[],
  { skipLocked = false } = {},
): Promise<Map<string, AttemptStart>> => {
  const given = attempts.map(({ id, fencing, traceId }) => ({ id, fencing, trace_id: traceId }));
  const { rows } = await sql<BegunRow>`with given as (
      select * from jsonb_to_recordset(${json(given)}::jsonb) as g(id uuid, fencing bigint, trace_id text)
    ), held as (
      select w.id, g.trace_id from work_items w join given g on g.id = w.id
      where w.fencing = g.fencing and w.status = 'EXECUTING' for update of w ${skipLocked ? sql`skip locked` : sql``}
    ), begun as (
      update work_items w set trace_id = coalesce(held.trace_id, w.trace_id) from held where w.id = held.id
      returning w.id, w.decisions, w.unsafe_calls, w.context_cut, w.tokens_before,
        w.cancel_requested_at is not null as cancel_requested
    ), ${stepTrace(sql`held`)}
    select * from begun`.execute(tx);
  return new Map(
    rows.map(({ id, decisions, unsafe_calls, ...start }) => [
      id,
      { ...start, decisions: decisions ?? [], unsafe_calls: unsafe_calls ?? [] },
    ]),
  );
};

/** What an attempt has done so far. */
export interface AttemptProgress {
  usage: WorkItemUsage;
  model: string | null;
  contextCut: unknown;
  /** All calls in flight that must not be repeated; absent: as before. */
  unsafeCalls?: readonly NewApproval[] | undefined;
  /** What people decided is done with. */
  clearDecisions: boolean;
}

/** Records it. The caller holds the lease. */
export const updateAttempt = async (
  tx: Tx,
  { usage, model, contextCut, unsafeCalls, clearDecisions, ...lease }: Lease & AttemptProgress,
): Promise<void> => {
  const open = unsafeCalls?.length ? json(unsafeCalls) : null;
  const unsafe = unsafeCalls
    ? sql`, unsafe_tool_in_flight = ${open !== null}, unsafe_calls = ${open}::jsonb`
    : sql``;
  await sql`update work_items w set usage = ${json(usage)}::jsonb, model = coalesce(${model}, w.model),
      context_cut = ${json(contextCut)}::jsonb${unsafe}${clearDecisions ? sql`, decisions = null` : sql``}
    where ${holds(lease)}`.execute(tx);
};
