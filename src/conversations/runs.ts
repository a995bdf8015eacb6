import { agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { type Database, type Executor, json, notify, sql, type Tx } from '../database/index.ts';
import type { Watcher } from '../event-streams/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { type MessagePart, textOf, textPart } from '../messages/index.ts';
import { type Continuation, type ContinueBody, shownApprovals } from '../runs/index.ts';
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
    ...(status === 'running' ? {} : { pending_approvals: shownApprovals(run?.pending_approvals) }),
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

const goOn = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun,
  { actor, parts, said }: { actor: Actor; parts: MessagePart[]; said: Said },
): Promise<void> => {
  const of = { conversationId: conversation.id, runId: run.id };
  const message = parts.length > 0 ? textOf(parts) : undefined;
  const stale = () => refusal(conversation, 'A decision is about something that does not wait for one.', run);
  const settled = conversationRuns.settle(
    run.pending_approvals ?? [],
    run.decisions ?? [],
    { message, decisions: said.decisions, mustNotDecide: said.mustNotDecide },
    stale,
    'content',
  );
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
  await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'queued'`,
    set: [
      sql`first_seq = ${firstSeq}`,
      sql`continuations = coalesce(w.continuations, '[]') || ${json([continuation])}::jsonb`,
      ...conversationRuns.decided(settled.decisions),
    ],
    action: 'continue',
    principal: actor.principal,
  });
  await audit(tx, actor, 'conversation.continue', conversation.id, { run_id: run.id, ...settled.audited });
};

/**
 * Begins a run with a message, or continues the one that waits for a person. Throws 403, 422, and
 * 412 while a run is in progress or if nothing waits for the decisions.
 */
export const sendMessage = async (
  tx: Tx,
  conversationId: string,
  { actor, said, depth = 0 }: { actor: Actor; said: Said; depth?: number },
): Promise<ConversationRun> => {
  const conversation = await lockConversation(tx, conversationId);
  const { decisions = [] } = said;
  const { active_run_id } = conversation;
  const run = active_run_id === null ? undefined : await findRun(tx, active_run_id);
  if (decisions.length > 0) {
    const agent = await agentCalls.getPinned(tx, conversation.agent_id, run?.agent_version ?? null);
    await conversationRuns.checkDeciders(
      tx,
      actor,
      agent,
      async () => (run ? [run.created_by] : []),
      decisions,
    );
  }
  const parts = partsOf(said.content);
  if (conversation.status === 'running') {
    throw refusal(
      conversation,
      'A run of this conversation is in progress. Wait for its end, or cancel it.',
      run,
    );
  }
  if (!run && decisions.length > 0) {
    throw refusal(conversation, 'Nothing waits for a decision.', run);
  }
  const id = run?.id ?? (await begin(tx, conversation, { actor, parts, depth }));
  if (run) await goOn(tx, conversation, run, { actor, parts, said });
  else await notify(tx, runsChannel);
  return (await findRun(tx, id))!;
};

/** Cancels the run of a conversation at once: what its worker does after this is not stored. Throws 412 if it is idle. */
export const cancelRun = async (tx: Tx, conversationId: string, actor: Actor): Promise<RunResponse> => {
  const conversation = await lockConversation(tx, conversationId);
  const { active_run_id } = conversation;
  const run = active_run_id === null ? undefined : await findRun(tx, active_run_id);
  if (!run) throw refusal(conversation, 'No run of this conversation is in progress.', run);
  await notify(tx, runCancelsChannel, run.id);
  await audit(tx, actor, 'conversation.cancel', conversationId, { run_id: run.id });
  const [cancelled] = await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'cancelled'`,
    set: [sql`not_before = null`, conversationRuns.nothingAsked],
    action: 'cancel',
    principal: actor.principal,
  });
  return toResponse(tx, cancelled!);
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
