import { type Executor, json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { StoredUsage } from '../lib/usage.ts';
import { type RunKind, type RunRow, sqlOf } from './kind.ts';
import type { Lease, NewApproval, StoredDecision } from './types.ts';

/** A tool call that a person approved, with the arguments that it is made with. */
interface ApprovedCall {
  tool_call_id: string;
  arguments: Record<string, unknown>;
  /** True if a person changed the arguments: the model is notified. */
  edited: boolean;
  /**
   * Hash of the tool's definition when the person was asked. If the tool has another one by now, the call is not made.
   */
  definition_hash: string | null;
}

/** State that earlier attempts and people left for this attempt. */
export interface AttemptStart {
  attempts: number;
  approved: readonly ApprovedCall[];
  /** The ids of calls that must not be repeated and that an earlier attempt had begun, and no person has decided on. */
  interrupted: readonly string[];
  /** Cut as it was stored; null: none yet. */
  contextCut: unknown;
  /** Input and output tokens that were used before the budget began: at the create, continue or restart. */
  tokensBefore: number;
  cancelRequested: boolean;
  /** False: nothing is stored of the conversation yet. */
  hasMessages: boolean;
}

/** Progress of an attempt so far. Absent fields do not change. */
export interface AttemptProgress {
  usage: StoredUsage;
  /** The model that replied last. */
  model?: string | null;
  /** Parts of the conversation that are left out of the prompt. */
  context?: unknown;
  /** All calls in flight that must not be repeated. */
  unsafeCalls?: readonly NewApproval[];
  /** A new reply: what people decided about the calls of the one before is done with. */
  newReply?: boolean;
}

interface BegunRow {
  id: string;
  attempts: number;
  decisions: StoredDecision[] | null;
  unsafe_calls: NewApproval[] | null;
  context_cut: unknown;
  tokens_before: number;
  cancel_requested: boolean;
  has_messages: boolean;
}

const approvedOf = (decisions: readonly StoredDecision[]): ApprovedCall[] =>
  decisions.flatMap(
    ({ decision, tool_call_id, arguments: args = {}, edited = false, definition_hash = null }) =>
      decision === 'approve' && tool_call_id !== undefined
        ? [{ tool_call_id, arguments: args, edited, definition_hash }]
        : [],
  );

const toStart = (row: BegunRow): AttemptStart => ({
  attempts: row.attempts,
  approved: approvedOf(row.decisions ?? []),
  interrupted: (row.unsafe_calls ?? []).flatMap(({ tool_call_id }) => tool_call_id ?? []),
  contextCut: row.context_cut,
  tokensBefore: row.tokens_before,
  cancelRequested: row.cancel_requested,
  hasMessages: row.has_messages,
});

/** Returns what stores the progress of attempts at runs of a kind. */
export const attemptsOf = <Row extends RunRow>(kind: RunKind<Row>) => {
  const { table, from, locked, word, holds, cancelRequested } = sqlOf(kind);
  const { contextCut: cut, unsafeColumn, onTrace, hasMessages = sql`true` } = kind;
  const traced = onTrace ? sql`, traced as (${onTrace(sql`held`)})` : sql``;

  /**
   * Records the traces of attempts that begin, and returns what they begin with by the ids of the runs. Absent are those
   * whose leases were lost, and with `skipLocked` those that another transaction has locked. `alongside` is
   * carried out in the same statement. It can read `begun`: `id`, `cancel_requested`, `has_messages`.
   */
  const begin = async (
    executor: Executor,
    attempts: readonly (Lease & { traceId: string | null })[],
    { skipLocked = false, alongside }: { skipLocked?: boolean; alongside?: RawBuilder<unknown> } = {},
  ): Promise<Map<string, AttemptStart>> => {
    const given = attempts.map(({ id, fencing, traceId }) => ({ id, fencing, trace_id: traceId }));
    const { rows } = await sql<BegunRow>`with given as (
        select * from jsonb_to_recordset(${json(given)}::jsonb) as g(id uuid, fencing bigint, trace_id text)
      ), held as (
        select w.id, g.trace_id from ${from} join given g on g.id = w.id
        where w.fencing = g.fencing and w.status = ${word('EXECUTING')}
        for update of ${locked} ${skipLocked ? sql`skip locked` : sql``}
      ), begun as (
        update ${table} w set trace_id = coalesce(held.trace_id, w.trace_id) from held where w.id = held.id
        returning w.id, w.attempts, w.decisions, w.unsafe_calls, ${cut.read} as context_cut, w.tokens_before,
          ${cancelRequested} as cancel_requested, ${hasMessages} as has_messages
      )${traced}${alongside ? sql`, alongside as (${alongside})` : sql``}
      select * from begun`.execute(executor);
    return new Map(rows.map((row) => [row.id, toStart(row)]));
  };

  /** Records the trace of the current attempt. Returns whether the lease is held. */
  const setTrace = async (tx: Tx, lease: Lease & { traceId: string }): Promise<boolean> => {
    const { rows } = await sql`with held as (
        update ${table} w set trace_id = ${lease.traceId} where ${holds(lease)} returning w.id, w.trace_id
      )${traced}
      select 1 from held`.execute(tx);
    return rows.length === 1;
  };

  /** Saves the progress of an attempt; requires the lease. */
  const save = async (
    tx: Tx,
    lease: Lease,
    { usage, model = null, context, unsafeCalls, newReply = false }: AttemptProgress,
  ): Promise<void> => {
    const open = unsafeCalls?.length ? json(unsafeCalls) : null;
    const saved = context === undefined ? {} : cut.save(sql`${json(context)}::jsonb`, lease);
    const set = [
      sql`usage = ${json(usage)}::jsonb`,
      sql`model = coalesce(${model}, w.model)`,
      ...('set' in saved ? [saved.set] : []),
      ...(unsafeCalls && unsafeColumn ? [sql`${sql.ref(unsafeColumn)} = ${open !== null}`] : []),
      ...(unsafeCalls ? [sql`unsafe_calls = ${open}::jsonb`] : []),
      ...(newReply ? [sql`decisions = null`] : []),
    ];
    await sql`${'alongside' in saved ? sql`with cut as (${saved.alongside})` : sql``}
      update ${table} w set ${sql.join(set)} where ${holds(lease)}`.execute(tx);
  };

  return { begin, setTrace, save };
};
