import { type Executor, sql, type Tx } from '../database/index.ts';
import type { RunUsage } from '../lib/usage.ts';
import { type OpenReview, openReview } from '../reviews/index.ts';
import type { NewApproval, RunRow } from '../runs/index.ts';

/** The channel that notifies workers of runs that may be claimed. */
export const runsChannel = 'conversation_runs';

/** The channel that notifies the worker of a run that it was cancelled; the payload is its id. */
export const runCancelsChannel = 'conversation_run_cancels';

export const runStatuses = ['queued', 'running', 'completed', 'needs_review', 'error', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface ConversationRun extends RunRow {
  conversation_id: string;
  agent_id: string;
  agent_version: number | null;
  status: RunStatus;
  depth: number;
  /** The number of the event with which it began or was continued. */
  first_seq: number;
  /** The message that began it. */
  message_id: string;
  answer: string | null;
  usage: RunUsage | null;
  model: string | null;
  trace_id: string | null;
  /** null is an empty list. */
  unsafe_calls: NewApproval[] | null;
  /** The open review; null unless it waits for a person. */
  open_review: OpenReview | null;
  tokens_before: number;
  attempts: number;
  cost_nano_usd: number;
  /** Calls of models without a known amount. */
  unknown_calls: number;
  /** The token of the last claim: only its holder may write. */
  fencing: number;
  /** The id of the principal whose message began it. */
  created_by: string;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

/** Columns of `conversation_runs w`. */
export const columns = sql`w.id, w.conversation_id, w.agent_id, w.agent_version, w.status, w.depth, w.first_seq, w.message_id, w.answer, w.error,
  w.usage, w.model, w.trace_id, w.pending_approvals, w.decisions, w.unsafe_calls, w.tokens_before, w.attempts, w.cost_nano_usd, w.unknown_calls,
  w.fencing, w.created_by, w.created_at, w.started_at, w.finished_at,
  case when w.status = 'needs_review' then ${openReview('conversation', sql`w.id`)} end as open_review`;

export const findRun = async (executor: Executor, id: string): Promise<ConversationRun | undefined> => {
  const { rows } = await sql<ConversationRun>`
    select ${columns} from conversation_runs w where w.id = ${id}`.execute(executor);
  return rows[0];
};

/** The run that began last in a conversation. */
export const findLastRun = async (
  executor: Executor,
  conversationId: string,
): Promise<ConversationRun | undefined> => {
  const { rows } = await sql<ConversationRun>`select ${columns} from conversation_runs w
    where w.conversation_id = ${conversationId} order by w.id desc limit 1`.execute(executor);
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
