import type { Database, Tx } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import {
  type AttemptOutcome,
  fromStored,
  holdLease,
  type Message,
  noRunUsage,
  type Run,
  type RunEnd,
  type RunProgress,
  type RunStart,
  toRunStart,
} from '../runtime/index.ts';
import { Deltas } from './deltas.ts';
import { askedNow, endRun } from './endings.ts';
import { appendEvents, listOpenMessages, type NewEvent } from './event-store.ts';
import { listWholeConversation, type NewMessage } from './message-store.ts';
import { recordMessages, toNewMessage } from './messages.ts';
import {
  beginRunAttempt,
  type ConversationRun,
  findMaxAttempts,
  findRun,
  heartbeat,
  type RunLease,
  type RunMove,
  type RunStatus,
  updateRun,
} from './run-store.ts';

const open = async (
  tx: Tx,
  lease: RunLease,
  traceId: string | null,
  instructions: string,
): Promise<RunStart> => {
  const { id: runId, conversationId } = lease;
  const start = await beginRunAttempt(tx, lease, traceId);
  const message_ids = await listOpenMessages(tx, conversationId, runId);
  if (start.attempts > 1 || message_ids.length > 0) {
    const data = { attempt: start.attempts, message_ids };
    await appendEvents(tx, { conversationId, runId }, [{ type: 'run.reset', data }]);
  }
  const stored = (await listWholeConversation(tx, conversationId)).map(fromStored);
  // The instructions of an agent are never part of a conversation: each run has the present ones.
  const system: Message[] = instructions === '' ? [] : [{ role: 'system', text: instructions }];
  return { ...toRunStart(start), messages: [...system, ...stored] };
};

/** How the outcome of an attempt ends its run. */
const moveOf = async (tx: Tx, run: ConversationRun, outcome: AttemptOutcome): Promise<RunMove> => {
  switch (outcome.status) {
    case 'COMPLETED': {
      const { result } = outcome;
      return { status: 'completed', answer: typeof result === 'string' ? result : JSON.stringify(result) };
    }
    case 'NEEDS_REVIEW':
    case 'INDETERMINATE':
      return { status: 'needs_review', approvals: await askedNow(tx, outcome.approvals) };
    case 'ERROR':
      return { status: 'error', error: outcome.error };
    case 'RETRY': {
      if (run.attempts >= (await findMaxAttempts(tx, run.agent_id))) {
        return { status: 'error', error: outcome.error };
      }
      const waitSeconds = Math.max(outcome.waitSeconds, Math.min(300, 2 ** run.attempts));
      return { status: 'queued', waitSeconds };
    }
    case 'cancelled':
      return { status: 'cancelled' };
    case 'stopped':
      return (await askAboutUnsafe(tx, run)) ?? { status: 'queued', uncounted: true };
  }
};

/** People are asked about calls that must not be repeated and whose outcome no one knows; null if there are none. */
const askAboutUnsafe = async (tx: Tx, { unsafe_calls }: ConversationRun): Promise<RunMove | null> =>
  unsafe_calls?.length ? { status: 'needs_review', approvals: await askedNow(tx, unsafe_calls) } : null;

/** Ends the attempt of a worker that was lost. The run and its conversation are locked. Returns its status. */
export const recoverRun = async (tx: Tx, run: ConversationRun): Promise<RunStatus> => {
  const asked = await askAboutUnsafe(tx, run);
  const left = run.attempts < (await findMaxAttempts(tx, run.agent_id));
  const error = { code: 'lease_lost', message: 'The worker was lost, and no attempts are left.' };
  const move: RunMove = asked ?? (left ? { status: 'queued' } : { status: 'error', error });
  await endRun(tx, run, move);
  return move.status;
};

/** Messages that the loop stores, the reply under the id that its deltas had. */
const toNewMessages = (messages: readonly Message[], replyId: string): NewMessage[] =>
  messages.flatMap((message) => {
    if (message.role === 'system') return [];
    return [toNewMessage(message, message.role === 'assistant' ? replyId : undefined)];
  });

const hasReply = (messages: readonly Message[]): boolean => messages.some(({ role }) => role === 'assistant');

const startedEvents = ({ begun = [] }: RunProgress): NewEvent[] =>
  begun.map(({ id, name, arguments: args }) => ({
    type: 'tool.started',
    data: { tool_call_id: id, tool_name: name, arguments: args ?? {} },
  }));

/** A claimed run of a conversation for the loop, from now on with a heartbeat. */
export const conversationRun = (
  db: Database,
  log: Logger,
  run: ConversationRun,
  leaseSeconds: number,
): Run<RunStatus> => {
  const of = { conversationId: run.conversation_id, runId: run.id };
  const lease = { id: run.id, conversationId: run.conversation_id, fencing: run.fencing, leaseSeconds };
  const held = holdLease(db, log, { ...lease, beat: (executor) => heartbeat(executor, lease) });
  const deltas = new Deltas(run.attempts, held.signal, (events) =>
    held.store(async (tx) => void (await appendEvents(tx, of, events))),
  );
  const begunAt = new Map<string, number>();
  const durations = (): Map<string, number> =>
    new Map([...begunAt].map(([id, at]) => [id, performance.now() - at]));
  /** What is stored of messages, with the end of the reply's deltas before them. */
  const prepare = async (messages: readonly Message[]) => {
    if (!hasReply(messages)) return { stored: toNewMessages(messages, ''), before: [] };
    const { id, events } = await deltas.take();
    return { stored: toNewMessages(messages, id), before: events };
  };

  const save = async (progress: RunProgress): Promise<void> => {
    const { stored, before } = await prepare(progress.messages);
    await held.store(async (tx) => {
      const after = startedEvents(progress);
      await recordMessages(tx, of, stored, { before, after, durations: durations() });
      await updateRun(tx, lease, {
        usage: progress.usage,
        model: progress.model,
        contextCut: progress.context,
        unsafeCalls: progress.unsafeCalls,
        clearDecisions: progress.newReply,
      });
    });
    for (const { id } of progress.begun ?? []) begunAt.set(id, performance.now());
  };

  const finish = async (
    outcome: AttemptOutcome,
    { usage, model, traceId }: RunEnd,
  ): Promise<RunStatus | null> => {
    const { stored, before } = await prepare(('messages' in outcome && outcome.messages) || []);
    await deltas.close();
    return db.tx(async (tx) => {
      if (!(await heartbeat(tx, lease)).alive) return null;
      await recordMessages(tx, of, stored, { before, durations: durations() });
      const now = (await findRun(tx, run.id))!;
      const move = await moveOf(tx, now, outcome);
      await endRun(tx, now, { ...move, usage, model, traceId });
      return move.status;
    });
  };

  return {
    id: run.id,
    agentId: run.agent_id,
    conversationId: run.conversation_id,
    createdBy: run.created_by,
    owner: { conversation_id: run.conversation_id, work_item_id: null },
    depth: run.depth,
    attributes: {
      'agent_platform.conversation.run.id': run.id,
      'agent_platform.conversation.run.attempt': run.attempts,
    },
    usage: { ...noRunUsage, ...run.usage },
    model: run.model,
    held,
    store: {
      open: (traceId, instructions) => held.store((tx) => open(tx, lease, traceId, instructions)),
      save,
      finish,
    },
    beginReply: () => deltas.begin(),
  };
};
