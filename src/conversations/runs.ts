import { audit } from '../audit/index.ts';
import { type Database, type Executor, notify, sql, type Tx } from '../database/index.ts';
import type { Watcher } from '../event-streams/index.ts';
import { ApiError } from '../lib/errors.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { type ReviewEnd, shownApprovals } from '../runs/index.ts';
import { lockConversation } from './conversations.ts';
import { conversationRuns } from './kind.ts';
import { listRunMessages } from './message-store.ts';
import { type ConversationRun, findRun, type RunStatus, runCancelsChannel } from './run-store.ts';
import { publicRun, type RunResponse, toRunResponse } from './schemas.ts';
import type { Conversation } from './store.ts';

/** The 412 of a conversation, with its status, its run and what that waits for. */
export const refusal = (
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
