import { databaseNow, notify, type Tx } from '../database/index.ts';
import { type ApprovalRequest, fromStored, interruptedText, openCalls } from '../runtime/index.ts';
import { type NewApproval, type PendingApproval, shownApproval } from '../work-items/index.ts';
import { appendEvents, expireDeltas, listOpenMessages, type NewEvent } from './event-store.ts';
import { listRunMessages } from './message-store.ts';
import { recordMessages, toNewMessage } from './messages.ts';
import { type ConversationRun, type RunMove, runsChannel, updateEndedRun } from './run-store.ts';
import { publicRun, type RunResponse, toRunResponse } from './schemas.ts';
import { updateActiveRun } from './store.ts';

const notMadeText = 'The call was not made: the run ended before it.';

/** What a person is asked, as it is stored now. */
export const askedNow = async (
  tx: Tx,
  approvals: readonly (ApprovalRequest | NewApproval)[],
): Promise<PendingApproval[]> => {
  const requested_at = new Date(await databaseNow(tx)).toISOString();
  return approvals.map((approval) => ({ ...approval, requested_at, expires_at: null }));
};

/** Gives every call of the last reply a result: the next run begins with a conversation that models accept. */
const closeOpenCalls = async (
  tx: Tx,
  { id, conversation_id, unsafe_calls }: ConversationRun,
): Promise<void> => {
  const unsafe = new Set((unsafe_calls ?? []).map(({ tool_call_id }) => tool_call_id));
  const open = openCalls((await listRunMessages(tx, id)).map(fromStored));
  const results = open.map((call) =>
    toNewMessage({
      role: 'tool',
      tool_call_id: call.id,
      tool_name: call.name,
      text: unsafe.has(call.id) ? interruptedText : notMadeText,
      is_error: true,
    }),
  );
  await recordMessages(tx, { conversationId: conversation_id, runId: id }, results);
};

/** Declares what was sent of replies that were never completed void. */
const resetEvents = async (
  tx: Tx,
  { id, conversation_id, attempts }: ConversationRun,
): Promise<NewEvent[]> => {
  const message_ids = await listOpenMessages(tx, conversation_id, id);
  await expireDeltas(tx, message_ids);
  return message_ids.length > 0 ? [{ type: 'run.reset', data: { attempt: attempts, message_ids } }] : [];
};

/**
 * Ends the execution of a run: it has ended, waits for a person, or is queued again. Stores what follows from it, and
 * tells followers. The caller has locked the conversation and the run.
 */
export const endRun = async (tx: Tx, run: ConversationRun, move: RunMove): Promise<RunResponse | null> => {
  const { id, conversation_id } = run;
  const of = { conversationId: conversation_id, runId: id };
  if (move.status === 'queued') {
    await updateEndedRun(tx, id, move);
    await notify(tx, runsChannel);
    return null;
  }
  const waits = move.status === 'needs_review';
  if (!waits) await closeOpenCalls(tx, run);
  const reset = await resetEvents(tx, run);
  const ended = await updateEndedRun(tx, id, { ...move, clearUnsafe: !waits });
  await updateActiveRun(tx, conversation_id, { runId: waits ? id : null });
  const shown = publicRun.parse(toRunResponse(ended, await listRunMessages(tx, id)));
  const approvals = (ended.pending_approvals ?? []).map(shownApproval);
  await appendEvents(tx, of, [
    ...reset,
    ...(waits ? [{ type: 'approval.requested' as const, data: { approvals } }] : []),
    { type: 'run.completed', data: { run: shown } },
  ]);
  return shown;
};
