import { agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { notify, type Tx } from '../database/index.ts';
import { type ApiError, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { type MessagePart, textOf, textPart } from '../messages/index.ts';
import { type Deciding, type Review, reviewCalls } from '../reviews/index.ts';
import type { ContinueBody } from '../runs/index.ts';
import { continueRun } from './continuations.ts';
import { lockConversation } from './conversations.ts';
import { appendEvents } from './event-store.ts';
import { conversationRuns } from './kind.ts';
import { recordMessages } from './messages.ts';
import { type ConversationRun, findRun, insertRun, runsChannel } from './run-store.ts';
import { refusal } from './runs.ts';
import type { MessageBody } from './schemas.ts';
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
    throw await reviewCalls.closedError(tx, last.id, actor.principal, refused.context);
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
  const audited = await continueRun(tx, conversation, run, {
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
