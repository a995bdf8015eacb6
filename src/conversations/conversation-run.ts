import { insertCharges } from '../charges/index.ts';
import type { Database, Tx } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { noRunUsage } from '../lib/usage.ts';
import type { Lease } from '../runs/index.ts';
import { type Message, type Run, runtimeCalls } from '../runtime/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { Deltas } from './deltas.ts';
import { appendEvents, listOpenMessages, type NewEvent } from './event-store.ts';
import { conversationRuns } from './kind.ts';
import { listWholeConversation, type NewMessage } from './message-store.ts';
import { recordMessages, toNewMessage } from './messages.ts';
import type { ConversationRun, RunStatus } from './run-store.ts';

type Store = Run<RunStatus>['store'];
type Progress = Parameters<Store['save']>[0];
type Outcome = Parameters<Store['finish']>[0];

/** Begins an attempt; requires the lease. */
const open = async (
  tx: Tx,
  of: { conversationId: string; runId: string },
  attempt: Lease & { traceId: string | null },
  instructions: string,
) => {
  const start = (await conversationRuns.begin(tx, [attempt])).get(of.runId)!;
  const message_ids = await listOpenMessages(tx, of.conversationId, of.runId);
  if (start.attempts > 1 || message_ids.length > 0) {
    const data = { attempt: start.attempts, message_ids };
    await appendEvents(tx, of, [{ type: 'run.reset', data }]);
  }
  const stored = (await listWholeConversation(tx, of.conversationId)).map(runtimeCalls.fromStored);
  // The instructions of an agent are never part of a conversation: each run has the present ones.
  const system: Message[] = instructions === '' ? [] : [{ role: 'system', text: instructions }];
  return { ...start, context: runtimeCalls.cutOf(start.contextCut), messages: [...system, ...stored] };
};

/** The outcome with a result that is text. */
const withText = (outcome: Outcome): Outcome =>
  outcome.status !== 'COMPLETED' || typeof outcome.result === 'string'
    ? outcome
    : { ...outcome, result: JSON.stringify(outcome.result) };

/** Messages that the loop stores, the reply under the id that its deltas had and with the usage of its step. */
const toNewMessages = (
  messages: readonly Message[],
  replyId: string,
  steps: Progress['steps'],
): NewMessage[] =>
  messages.flatMap((message, i) => {
    if (message.role === 'system') return [];
    if (message.role !== 'assistant') return [toNewMessage(message)];
    const usage = steps.find((step) => step.kind === 'model' && step.message === i)?.tokens ?? null;
    return [{ ...toNewMessage(message, replyId), usage }];
  });

const chargesOf = (steps: Progress['steps']) => steps.flatMap(({ charges }) => charges);

const hasReply = (messages: readonly Message[]): boolean => messages.some(({ role }) => role === 'assistant');

const startedEvents = ({ begun = [] }: Progress): NewEvent[] =>
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
  const lease = { id: run.id, fencing: run.fencing, leaseSeconds };
  let isOpened = false;
  const held = runtimeCalls.holdLease(db, log, {
    ...lease,
    beat: (executor) => conversationRuns.heartbeat(executor, lease),
  });
  const deltas = new Deltas(run.attempts, held.signal, (events) =>
    held.store(async (tx) => void (await appendEvents(tx, of, events))),
  );
  const begunAt = new Map<string, number>();
  const durations = (): Map<string, number> =>
    new Map([...begunAt].map(([id, at]) => [id, performance.now() - at]));
  /** Returns the messages as they are stored, and the end of the reply's deltas, which comes before them. */
  const prepare = async (messages: readonly Message[], steps: Progress['steps']) => {
    if (!hasReply(messages)) return { stored: toNewMessages(messages, '', steps), before: [] };
    const { id, events } = await deltas.take();
    return { stored: toNewMessages(messages, id, steps), before: events };
  };

  const save: Store['save'] = async (progress) => {
    const { stored, before } = await prepare(progress.messages, progress.steps);
    await held.store(async (tx) => {
      const after = startedEvents(progress);
      await recordMessages(tx, of, stored, { before, after, durations: durations() });
      await conversationRuns.save(tx, lease, progress);
      await inputCalls.store(tx, { run_id: run.id }, progress);
      await insertCharges(tx, chargesOf(progress.steps));
    });
    for (const { id } of progress.begun ?? []) begunAt.set(id, performance.now());
  };

  const finish: Store['finish'] = async (outcome, end, durable) => {
    const { stored, before } = await prepare(('messages' in outcome && outcome.messages) || [], end.steps);
    await Promise.all([deltas.close(), durable]);
    return db.tx(async (tx) => {
      const store = async () => {
        await recordMessages(tx, of, stored, { before, durations: durations() });
        await insertCharges(tx, chargesOf(end.steps));
      };
      const ended = await runtimeCalls.endAttempt(tx, conversationRuns, lease, withText(outcome), end, {
        isOpened,
        store,
      });
      return ended?.status ?? null;
    });
  };

  return {
    id: run.id,
    agentId: run.agent_id,
    agentVersion: run.agent_version,
    conversationId: run.conversation_id,
    createdBy: run.created_by,
    purpose: 'run',
    acting: {
      agentId: run.agent_id,
      agentVersion: run.agent_version,
      workItemId: null,
      runId: run.id,
      experimentId: null,
      scheduleId: null,
      triggerId: null,
    },
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
      open: async (traceId, instructions) => {
        const start = await held.store((tx) => open(tx, of, { ...lease, traceId }, instructions));
        isOpened = true;
        return start;
      },
      save,
      inputs: () => db.run((executor) => inputCalls.read(executor, { run_id: run.id })),
      finish,
    },
    beginReply: () => deltas.begin(),
  };
};
