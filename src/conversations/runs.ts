import { agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { budgetCalls } from '../budgets/index.ts';
import {
  type Database,
  type Executor,
  json,
  notify,
  type RawBuilder,
  sql,
  type Tx,
} from '../database/index.ts';
import type { Watcher } from '../event-streams/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { type MessagePart, textOf, textPart } from '../messages/index.ts';
import { type Deciding, type Review, reviewCalls } from '../reviews/index.ts';
import {
  type BudgetDecision,
  budgetDenied,
  type Continuation,
  type ContinueBody,
  type ReviewEnd,
  shownApprovals,
} from '../runs/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { lockConversation } from './conversations.ts';
import { appendEvents } from './event-store.ts';
import { conversationRuns } from './kind.ts';
import { countRunMessages, listRunMessages } from './message-store.ts';
import { recordMessages } from './messages.ts';
import {
  type ConversationRun,
  findRun,
  insertRun,
  type RunStatus,
  runCancelsChannel,
  runsChannel,
} from './run-store.ts';
import { type MessageBody, publicRun, type RunResponse, toRunResponse } from './schemas.ts';
import { type Conversation, updateActiveRun } from './store.ts';

/** Message and decisions of someone in a conversation. */
export type Said = Pick<MessageBody, 'content' | 'decisions'> & Pick<ContinueBody, 'mustNotDecide'>;

const titleLength = 60;

/** The parts of a message. Throws 422 for a file that the conversation does not have. */
const partsOf = (content: MessageBody['content']): MessagePart[] => {
  if (content === undefined) return [];
  if (typeof content === 'string') return [textPart(content)];
  const faults = content.flatMap((part, i) =>
    // Conversations have no files yet, so every id is unknown.
    part.type === 'file'
      ? [{ path: `content[${i}].file_id`, message: 'is not a file of this conversation' }]
      : [],
  );
  if (faults.length > 0) throw unprocessable(faults);
  return content.flatMap((part) => (part.type === 'text' ? [textPart(part.text)] : []));
};

const refusal = (
  { status, active_run_id }: Conversation,
  message: string,
  run: ConversationRun | undefined,
): ApiError =>
  new ApiError('precondition_failed', message, {
    status,
    ...(active_run_id === null ? {} : { run_id: active_run_id }),
    ...(status === 'running'
      ? {}
      : { pending_approvals: shownApprovals(run?.pending_approvals, run?.open_review) }),
  });

/** A run as the response shows it. */
export const toResponse = async (executor: Executor, run: ConversationRun): Promise<RunResponse> =>
  publicRun.parse(toRunResponse(run, await listRunMessages(executor, run.id)));

const begin = async (
  tx: Tx,
  conversation: Conversation,
  { actor, parts, depth }: { actor: Actor; parts: MessagePart[]; depth: number },
): Promise<string> => {
  const id = newId();
  const message_id = newId();
  const of = { conversationId: conversation.id, runId: id };
  await recordMessages(tx, of, [{ id: message_id, role: 'user', content: parts }]);
  const first_seq = await appendEvents(tx, of, [{ type: 'run.started', data: { message_id } }]);
  await insertRun(tx, {
    id,
    conversation_id: conversation.id,
    agent_id: conversation.agent_id,
    depth,
    first_seq,
    message_id,
    created_by: actor.principal.id,
  });
  const title = [...textOf(parts)].slice(0, titleLength).join('');
  await updateActiveRun(tx, conversation.id, { runId: id, title });
  await audit(tx, actor, 'conversation.message', conversation.id, { run_id: id });
  return id;
};

/** Queues a run that waited, with the events of its continuation. */
const queueRun = async (
  tx: Tx,
  run: ConversationRun,
  {
    firstSeq,
    continuation,
    set,
    by,
    reviewEnd,
  }: {
    firstSeq: number;
    continuation: Continuation;
    set: readonly RawBuilder<unknown>[];
    by: Principal;
    reviewEnd?: ReviewEnd | undefined;
  },
): Promise<void> => {
  await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'queued'`,
    set: [
      sql`first_seq = ${firstSeq}`,
      sql`continuations = coalesce(w.continuations, '[]') || ${json([continuation])}::jsonb`,
      ...set,
    ],
    action: 'continue',
    principal: by,
    reviewEnd,
  });
};

/** Lets a run go on that waited for a budget, because there is room. The conversation is locked. */
export const resumeRun = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun,
  by: Principal,
): Promise<void> => {
  const of = { conversationId: conversation.id, runId: run.id };
  const continuation: Continuation = {
    after: await countRunMessages(tx, run.id),
    stopped: 'needs_review',
    decisions: [],
    message: null,
  };
  const started = [{ type: 'run.started' as const, data: { message_id: run.message_id } }];
  const firstSeq = await appendEvents(tx, of, started);
  const set = [sql`attempts = 0`, sql`not_before = null`, conversationRuns.nothingAsked];
  await queueRun(tx, run, { firstSeq, continuation, set, by });
};

/** Ends a run for which a budget got no more room. */
const endForBudget = async (
  tx: Tx,
  run: ConversationRun,
  decision: BudgetDecision,
  by: Principal,
  reviewEnd: ReviewEnd,
): Promise<void> => {
  await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'error'`,
    set: [sql`error = ${json(budgetDenied(decision))}::jsonb`, conversationRuns.nothingAsked],
    action: 'continue',
    principal: by,
    reviewEnd,
  });
};

/** How a run that waits is continued. */
interface GoingOn {
  actor: Actor;
  parts: MessagePart[];
  body: Omit<ContinueBody, 'message'>;
  end: Omit<ReviewEnd, 'verdicts'>;
}

/** Lets a run that waits go on, with decisions and a message. Returns what the audit log says of them. */
export const goOn = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun,
  { actor, parts, body, end }: GoingOn,
): Promise<Record<string, unknown>> => {
  const of = { conversationId: conversation.id, runId: run.id };
  const message = parts.length > 0 ? textOf(parts) : undefined;
  const stale = () => refusal(conversation, 'A decision is about something that does not wait for one.', run);
  const settled = conversationRuns.settle(
    run.pending_approvals ?? [],
    run.decisions ?? [],
    { ...body, message },
    stale,
    'content',
  );
  const owner = { run_id: run.id };
  await inputCalls.answer(tx, owner, settled.answers);
  await inputCalls.end(
    tx,
    owner,
    settled.refusals.map(({ tool_call_id }) => tool_call_id),
  );
  const reviewEnd: ReviewEnd = { ...end, verdicts: settled.verdicts };
  const { budget } = settled;
  if (budget?.approved) await budgetCalls.extend(tx, actor, budget);
  if (budget && !budget.approved) {
    await endForBudget(tx, run, budget, actor.principal, reviewEnd);
    return settled.audited;
  }
  const messageId = newId();
  const continuation: Continuation = {
    after: await countRunMessages(tx, run.id),
    stopped: 'needs_review',
    decisions: settled.made,
    message: message ?? null,
  };
  const firstSeq = await appendEvents(tx, of, [
    { type: 'run.started', data: { message_id: parts.length > 0 ? messageId : run.message_id } },
  ]);
  await recordMessages(tx, of, [
    ...settled.refusals.map((result) => ({ id: newId(), role: 'tool' as const, content: [result] })),
    ...(parts.length > 0 ? [{ id: messageId, role: 'user' as const, content: parts }] : []),
  ]);
  const set = conversationRuns.decided(settled.decisions);
  await queueRun(tx, run, { firstSeq, continuation, set, by: actor.principal, reviewEnd });
  return settled.audited;
};

/** Throws 403 unless the actor may decide so on what the run waits for, and 422 for decisions that contradict themselves. */
const checkDecider = async (
  tx: Tx,
  actor: Actor,
  conversation: Conversation,
  run: ConversationRun | undefined,
  decisions: NonNullable<Said['decisions']>,
  review: Review | null | undefined,
): Promise<void> => {
  if (run?.pending_approvals?.some(({ kind }) => kind === 'budget')) {
    conversationRuns.checkBudgetDecider(actor, run.pending_approvals);
  } else if (decisions.length > 0) {
    const agent = await agentCalls.getPinned(tx, conversation.agent_id, run?.agent_version ?? null);
    const required = review?.required_role ?? agent.approval_role;
    const requesters = async () => (run ? [run.created_by] : []);
    await conversationRuns.checkDeciders(tx, actor, agent, required, requesters, decisions);
  }
};

/** The 412 for decisions about what a run does not wait for, or not any more: then it says who decided, and when. */
const lateRefusal = async (
  tx: Tx,
  conversation: Conversation,
  { principal }: Actor,
  approvalIds: readonly string[],
  refused: ApiError,
): Promise<ApiError> =>
  (await reviewCalls.refusalOfLate(
    tx,
    'conversation',
    conversation.id,
    approvalIds,
    principal,
    refused.context,
  )) ?? refused;

/** Throws 412 unless the conversation takes a message, and decisions on these approvals. */
const checkTakes = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun | undefined,
  actor: Actor,
  approvalIds: readonly string[],
): Promise<void> => {
  if (conversation.status === 'running') {
    const message = 'A run of this conversation is in progress. Wait for its end, or cancel it.';
    const refused = refusal(conversation, message, run);
    const last = run && (await reviewCalls.findLast(tx, 'conversation', run.id));
    if (approvalIds.length > 0 || !last) {
      throw await lateRefusal(tx, conversation, actor, approvalIds, refused);
    }
    throw await reviewCalls.closedError(tx, last.id, actor.principal, refused.context, refused.message);
  }
  const asked = new Set(run?.pending_approvals?.map(({ approval_id }) => approval_id));
  const others = approvalIds.filter((id) => !asked.has(id));
  if (others.length === 0) return;
  const text = run
    ? 'A decision is about something that does not wait for one.'
    : 'Nothing waits for a decision.';
  throw await lateRefusal(tx, conversation, actor, others, refusal(conversation, text, run));
};

/**
 * Begins a run with a message, or continues the one that waits for a person, which closes its review. Throws 403, 422, and
 * 412 while a run is in progress, if nothing waits for the decisions, and if the review that was decided on is closed.
 */
export const sendMessage = async (
  tx: Tx,
  conversationId: string,
  { actor, said, depth = 0, deciding }: { actor: Actor; said: Said; depth?: number; deciding?: Deciding },
): Promise<ConversationRun> => {
  const conversation = await lockConversation(tx, conversationId);
  const { decisions = [] } = said;
  const { active_run_id } = conversation;
  const run = active_run_id === null ? undefined : await findRun(tx, active_run_id);
  const review = run && (await reviewCalls.findOpen(tx, 'conversation', run.id));
  const wanted = deciding?.review;
  await checkDecider(tx, actor, conversation, run, decisions, wanted ?? review);
  const parts = partsOf(said.content);
  if (wanted && wanted.id !== review?.id) {
    const { context } = refusal(conversation, '', run);
    throw await reviewCalls.closedError(tx, wanted.id, actor.principal, context);
  }
  const approvalIds = decisions.map(({ approval_id }) => approval_id);
  await checkTakes(tx, conversation, run, actor, approvalIds);
  if (!run) {
    const id = await begin(tx, conversation, { actor, parts, depth });
    await notify(tx, runsChannel);
    return (await findRun(tx, id))!;
  }
  const via = deciding?.by.via ?? reviewCalls.viaOf(actor.principal) ?? 'api';
  const { mustNotDecide } = said;
  const end = { state: 'decided' as const, via };
  const audited = await goOn(tx, conversation, run, {
    actor,
    parts,
    body: { decisions, mustNotDecide },
    end,
  });
  await audit(tx, actor, 'conversation.continue', conversation.id, {
    run_id: run.id,
    ...audited,
    ...(review ? { review_id: review.id, via, ...deciding?.by.details } : {}),
  });
  return (await findRun(tx, run.id))!;
};

/** Cancels the run, whose conversation is locked, at once: what its worker does after this is not stored. */
export const cancelLockedRun = async (
  tx: Tx,
  run: ConversationRun,
  by: Principal,
  reviewEnd?: ReviewEnd,
): Promise<ConversationRun> => {
  await notify(tx, runCancelsChannel, run.id);
  const [cancelled] = await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'cancelled'`,
    set: [sql`not_before = null`, conversationRuns.nothingAsked],
    action: 'cancel',
    principal: by,
    reviewEnd,
  });
  return cancelled!;
};

/** Cancels the run of a conversation. Throws 412 if it is idle. */
export const cancelRun = async (tx: Tx, conversationId: string, actor: Actor): Promise<RunResponse> => {
  const conversation = await lockConversation(tx, conversationId);
  const { active_run_id } = conversation;
  const run = active_run_id === null ? undefined : await findRun(tx, active_run_id);
  if (!run) throw refusal(conversation, 'No run of this conversation is in progress.', run);
  await audit(tx, actor, 'conversation.cancel', conversationId, { run_id: run.id });
  return toResponse(tx, await cancelLockedRun(tx, run, actor.principal));
};

const inProgress: readonly RunStatus[] = ['queued', 'running'];

/** Resolves to the run when it is no longer in progress, at the latest after `seconds` or when `signal` is aborted. */
export const waitForRun = (
  db: Database,
  watcher: Watcher,
  { id, conversation_id }: Pick<ConversationRun, 'id' | 'conversation_id'>,
  wait: { seconds: number; signal: AbortSignal },
): Promise<ConversationRun | undefined> =>
  watcher.readUntil(
    conversation_id,
    () => db.run((executor) => findRun(executor, id)),
    (run) => !run || !inProgress.includes(run.status),
    wait,
  );
