import { notify, type Tx } from '../database/index.ts';
import { type Moved, type MoveReason, shownApprovals } from '../runs/index.ts';
import { runtimeCalls } from '../runtime/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { appendEvents, expireDeltas, listOpenMessages, type NewEvent } from './event-store.ts';
import { listRunMessages } from './message-store.ts';
import { recordMessages, toNewMessage } from './messages.ts';
import { recordReviews } from './review-records.ts';
import { type ConversationRun, runsChannel } from './run-store.ts';
import { publicRun, toRunResponse } from './schemas.ts';
import { updateActiveRun } from './store.ts';

const notMadeText = 'The call was not made: the run ended before it.';

/** Gives every call of the last reply a result: the next run begins with a conversation that models accept. */
const closeOpenCalls = async (
  tx: Tx,
  { id, conversation_id, unsafe_calls }: ConversationRun,
): Promise<void> => {
  const unsafe = new Set((unsafe_calls ?? []).map(({ tool_call_id }) => tool_call_id));
  const open = runtimeCalls.openCalls((await listRunMessages(tx, id)).map(runtimeCalls.fromStored));
  const results = open.map((call) =>
    toNewMessage({
      role: 'tool',
      tool_call_id: call.id,
      tool_name: call.name,
      text: unsafe.has(call.id) ? runtimeCalls.interruptedText : notMadeText,
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

/** Stores what follows from a run that has ended or waits for a person, and tells followers. */
const recordEnded = async (tx: Tx, run: Moved<ConversationRun>): Promise<void> => {
  const { id, conversation_id } = run;
  const waits = run.status === 'needs_review';
  if (!waits) await closeOpenCalls(tx, run);
  const asked = run.status !== 'completed' || (run.decisions?.some(({ input }) => input) ?? false);
  if (!waits && asked) await inputCalls.forget(tx, 'run_id', [id]);
  const reset = await resetEvents(tx, run);
  await updateActiveRun(tx, conversation_id, { runId: waits ? id : null });
  const shown = publicRun.parse(toRunResponse(run, await listRunMessages(tx, id)));
  const approvals = shownApprovals(run.pending_approvals, run.open_review);
  await appendEvents(tx, { conversationId: conversation_id, runId: id }, [
    ...reset,
    ...(waits ? [{ type: 'approval.requested' as const, data: { approvals } }] : []),
    { type: 'run.completed', data: { run: shown } },
  ]);
};

/**
 * Writes the records of a change of status in the transaction of the change. The conversations and the runs are locked.
 */
export const recordMoved = async (
  tx: Tx,
  runs: readonly Moved<ConversationRun>[],
  { principal, reviewEnd }: MoveReason<ConversationRun>,
): Promise<void> => {
  await recordReviews(tx, runs, principal, reviewEnd);
  for (const run of runs) {
    if (run.status !== 'queued' && run.status !== 'running') await recordEnded(tx, run);
  }
  if (runs.some(({ status }) => status === 'queued')) await notify(tx, runsChannel);
};
