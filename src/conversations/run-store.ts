import { type Executor, json, sql, type Tx } from '../database/index.ts';
import type { ContextCut, RunError, RunUsage } from '../runtime/index.ts';
import type { NewApproval, PendingApproval, StoredDecision } from '../work-items/index.ts';

/** The channel that notifies workers of runs that may be claimed. */
export const runsChannel = 'conversation_runs';

/** The channel that notifies the worker of a run that it was cancelled; the payload is its id. */
export const runCancelsChannel = 'conversation_run_cancels';

export const runStatuses = ['queued', 'running', 'completed', 'needs_review', 'error', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface ConversationRun {
  id: string;
  conversation_id: string;
  agent_id: string;
  status: RunStatus;
  depth: number;
  /** The number of the event with which it began or was continued. */
  first_seq: number;
  /** The message that began it. */
  message_id: string;
  answer: string | null;
  error: RunError | null;
  usage: RunUsage | null;
  model: string | null;
  trace_id: string | null;
  /** Null is an empty list, as in the two below. */
  pending_approvals: PendingApproval[] | null;
  decisions: StoredDecision[] | null;
  unsafe_calls: NewApproval[] | null;
  tokens_before: number;
  attempts: number;
  /** The token of the last claim: only its holder may write. */
  fencing: number;
  created_by: string;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

/** Of `conversation_runs r`. */
const columns = sql`r.id, r.conversation_id, r.agent_id, r.status, r.depth, r.first_seq, r.message_id, r.answer, r.error,
  r.usage, r.model, r.trace_id, r.pending_approvals, r.decisions, r.unsafe_calls, r.tokens_before, r.attempts,
  r.fencing, r.created_by, r.created_at, r.started_at, r.finished_at`;

/** A claimed run and the fencing token of the claim. */
export interface RunLease {
  id: string;
  conversationId: string;
  fencing: number;
  leaseSeconds: number;
}

export const findRun = async (executor: Executor, id: string): Promise<ConversationRun | undefined> => {
  const { rows } = await sql<ConversationRun>`
    select ${columns} from conversation_runs r where r.id = ${id}`.execute(executor);
  return rows[0];
};

/** The run that began last in a conversation. */
export const findLastRun = async (
  executor: Executor,
  conversationId: string,
): Promise<ConversationRun | undefined> => {
  const { rows } = await sql<ConversationRun>`select ${columns} from conversation_runs r
    where r.conversation_id = ${conversationId} order by r.id desc limit 1`.execute(executor);
  return rows[0];
};

export const insertRun = async (
  tx: Tx,
  run: Pick<ConversationRun, 'id' | 'conversation_id' | 'agent_id' | 'depth' | 'first_seq' | 'message_id'> & {
    created_by: string;
  },
): Promise<void> => {
  await sql`insert into conversation_runs (id, conversation_id, agent_id, depth, first_seq, message_id, created_by)
    values (${run.id}, ${run.conversation_id}, ${run.agent_id}, ${run.depth}, ${run.first_seq}, ${run.message_id},
      ${run.created_by})`.execute(tx);
};

/** Makes a run that waits for a person queued again. Attempts and the budget of tokens begin again. */
export const updateContinuedRun = async (
  tx: Tx,
  { id, firstSeq, decisions }: { id: string; firstSeq: number; decisions: readonly StoredDecision[] },
): Promise<void> => {
  await sql`update conversation_runs set status = 'queued', first_seq = ${firstSeq}, attempts = 0, not_before = null,
      decisions = ${decisions.length > 0 ? json(decisions) : null}::jsonb, pending_approvals = null,
      unsafe_calls = null, finished_at = null,
      tokens_before = coalesce((usage ->> 'input_tokens')::bigint + (usage ->> 'output_tokens')::bigint, 0)
    where id = ${id}`.execute(tx);
};

/** Extends the lease, and locks the conversation before the run. Not `alive`: the lease was lost. */
export const heartbeat = async (
  executor: Executor,
  { id, conversationId, fencing, leaseSeconds }: RunLease,
): Promise<{ alive: boolean; cancelRequested: boolean }> => {
  const { rows } = await sql`
    update conversation_runs r set lease_expires_at = platform_now() + make_interval(secs => ${leaseSeconds})
    from (select id from conversations where id = ${conversationId} for update) c
    where r.conversation_id = c.id and r.id = ${id} and r.fencing = ${fencing} and r.status = 'running'
    returning 1`.execute(executor);
  return { alive: rows.length === 1, cancelRequested: false };
};

/** Claims up to `limit` runs that are due, oldest first. */
export const claimRuns = async (
  tx: Tx,
  { owner, limit, leaseSeconds }: { owner: string; limit: number; leaseSeconds: number },
): Promise<ConversationRun[]> => {
  const { rows } = await sql<ConversationRun>`
    with due as (
      select id from conversation_runs
      where status = 'queued' and (not_before is null or not_before <= (select platform_now()))
      order by created_at, id limit ${limit} for update skip locked
    )
    update conversation_runs r set status = 'running', attempts = attempts + 1, fencing = fencing + 1,
      lease_owner = ${owner}, lease_expires_at = platform_now() + make_interval(secs => ${leaseSeconds}),
      started_at = coalesce(started_at, platform_now()), not_before = null
    from due where r.id = due.id returning ${columns}`.execute(tx);
  return rows;
};

/** Locks up to `limit` runs whose workers were lost, with their conversations; none that another transaction holds. */
export const listLockedLostRuns = async (tx: Tx, limit: number): Promise<ConversationRun[]> => {
  const { rows } = await sql<ConversationRun>`
    select ${columns} from conversation_runs r join conversations c on c.id = r.conversation_id
    where r.status = 'running' and r.lease_expires_at <= (select platform_now())
    limit ${limit} for update of c, r skip locked`.execute(tx);
  return rows;
};

/**
 * Whether a run can be claimed now, and milliseconds until a retry is due or a lease expires; 0 if a lease has expired;
 * null if there is neither.
 */
export const lookForRuns = async (executor: Executor): Promise<{ isDue: boolean; nextIn: number | null }> => {
  const { rows } = await sql<{ due: boolean; at: Date | null; now: Date }>`
    select exists (select from conversation_runs
      where status = 'queued' and (not_before is null or not_before <= (select platform_now()))) as due,
    least(
      (select min(not_before) from conversation_runs where status = 'queued' and not_before > (select platform_now())),
      (select min(lease_expires_at) from conversation_runs where status = 'running')
    ) as at, platform_now() as now`.execute(executor);
  const { due, at, now } = rows[0]!;
  return { isDue: due, nextIn: at && Math.max(0, at.getTime() - now.getTime()) };
};

/** Records the trace of an attempt that begins, and returns what earlier ones left. The caller holds the lease. */
export const beginRunAttempt = async (
  tx: Tx,
  { id, conversationId }: RunLease,
  traceId: string | null,
): Promise<ConversationRun & { context_cut: ContextCut | null }> => {
  const { rows } = await sql<ConversationRun & { context_cut: ContextCut | null }>`
    update conversation_runs r set trace_id = coalesce(${traceId}, r.trace_id)
    from conversations c where r.id = ${id} and c.id = ${conversationId}
    returning ${columns}, c.context_cut`.execute(tx);
  return rows[0]!;
};

/** What an attempt has done so far. */
export interface RunChange {
  usage: RunUsage;
  model: string | null;
  contextCut: ContextCut;
  /** Absent: as before. */
  unsafeCalls?: readonly NewApproval[] | undefined;
  clearDecisions: boolean;
}

/** Records it. The caller holds the lease. */
export const updateRun = async (
  tx: Tx,
  { id, conversationId }: RunLease,
  { usage, model, contextCut, unsafeCalls, clearDecisions }: RunChange,
): Promise<void> => {
  const unsafe = unsafeCalls?.length ? json(unsafeCalls) : null;
  await sql`with cut as (
      update conversations set context_cut = ${json(contextCut)}::jsonb where id = ${conversationId}
    )
    update conversation_runs set usage = ${json(usage)}::jsonb, model = coalesce(${model}, model)
      ${unsafeCalls ? sql`, unsafe_calls = ${unsafe}::jsonb` : sql``}
      ${clearDecisions ? sql`, decisions = null` : sql``}
    where id = ${id}`.execute(tx);
};

/** How a run leaves its execution. */
export interface RunMove {
  status: Exclude<RunStatus, 'running'>;
  answer?: string | null;
  error?: RunError | null;
  usage?: RunUsage | null;
  traceId?: string | null;
  model?: string | null;
  approvals?: readonly PendingApproval[] | null;
  /** Of a queued one: it is not claimed for this long. */
  waitSeconds?: number | null;
  /** The attempt does not count. */
  uncounted?: boolean;
  /** What was in flight is settled. */
  clearUnsafe?: boolean;
}

/**
 * Writes how the run ends, and gives up the lease: its former holder can write nothing more. The caller has locked the
 * conversation and the run.
 */
export const updateEndedRun = async (tx: Tx, id: string, move: RunMove): Promise<ConversationRun> => {
  const {
    status,
    answer = null,
    error = null,
    usage = null,
    model = null,
    approvals = null,
    traceId = null,
  } = move;
  const final = status !== 'queued' && status !== 'needs_review';
  const { rows } = await sql<ConversationRun>`
    update conversation_runs r set status = ${status}, fencing = fencing + 1, lease_owner = null,
      lease_expires_at = null, answer = ${answer}, error = ${error && json(error)}::jsonb,
      usage = coalesce(${usage && json(usage)}::jsonb, usage), model = coalesce(${model}, model),
      trace_id = coalesce(${traceId}, trace_id),
      pending_approvals = ${approvals?.length ? json(approvals) : null}::jsonb,
      attempts = attempts - ${move.uncounted ? 1 : 0}::integer,
      not_before = platform_now() + make_interval(secs => ${move.waitSeconds ?? null}::double precision),
      unsafe_calls = case when ${move.clearUnsafe ?? false} then null else unsafe_calls end,
      decisions = case when ${final} then null else decisions end,
      finished_at = case when ${final} then platform_now() end
    where id = ${id} returning ${columns}`.execute(tx);
  return rows[0]!;
};

/** How many attempts a run of the agent has. */
export const findMaxAttempts = async (tx: Tx, agentId: string): Promise<number> => {
  const { rows } = await sql<{ max_attempts: number }>`
    select max_attempts from agents where id = ${agentId}`.execute(tx);
  return rows[0]?.max_attempts ?? 0;
};
