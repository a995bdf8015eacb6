import type { Database, Tx } from '../database/index.ts';
import { Batch } from '../lib/batch.ts';
import type { Ending } from '../runs/index.ts';
import { type WorkItem, workItemCalls, workItemRuns } from '../work-items/index.ts';
import { cutOf } from './context.ts';
import { firstUserMessage, fromStored, type Message, toContent } from './messages.ts';
import type { RunStart, StepRecord } from './run-store.ts';

/** Number of attempts that begin or end in one transaction at most. */
const most = 64;
/** Number of such transactions that a replica has open at a time. */
const atOnce = 2;

/** Messages of an attempt as they are stored. */
export const messageRows = (item: WorkItem, messages: readonly Message[]) =>
  messages.map((message) => ({
    work_item_id: item.id,
    conversation_id: item.conversation_id,
    role: message.role,
    content: toContent(message),
    ...(message.role === 'assistant' && { provider_parts: message.provider_parts }),
  }));

/** Steps of an attempt as they are stored; `seqs` are those of its messages. */
export const stepRows = (item: WorkItem, steps: readonly StepRecord[], seqs: readonly number[]) => {
  const now = performance.now();
  return steps.map(({ message, beganAt, endedAt, spanId, ...step }) => ({
    ...step,
    span_id: spanId,
    work_item_id: item.id,
    beganMsAgo: now - beganAt,
    endedMsAgo: now - endedAt,
    message_seq: message === null ? null : (seqs[message] ?? null),
  }));
};

/** The messages that the attempt adds before its first step. */
const firstMessages = (item: WorkItem, instructions: string, stored: readonly Message[]): Message[] => {
  const last = stored.at(-1);
  if (!last) {
    const first = firstUserMessage(item.message, item.payload);
    return instructions === '' ? [first] : [{ role: 'system', text: instructions }, first];
  }
  // A person continued without a message after the model's last one.
  const continued = last.role === 'assistant' && last.tool_calls.length === 0;
  return continued ? [{ role: 'user', text: 'Continue.' }] : [];
};

/** An attempt that begins. */
interface Opening {
  item: WorkItem;
  traceId: string | null;
  instructions: string;
}

/** Start of an attempt, or the reason why it does not begin. */
export type Opened = RunStart | 'lost' | 'cancelled';

const openAll = async (
  tx: Tx,
  openings: readonly Opening[],
  alone: boolean,
): Promise<(Opened | undefined)[]> => {
  const attempts = openings.map(({ item: { id, fencing }, traceId }) => ({ id, fencing, traceId }));
  const begun = await workItemRuns.begin(tx, attempts, { skipLocked: !alone });
  const stored = await workItemCalls.listMessagesOfMany(
    tx,
    openings.map(({ item }) => item).filter(({ id }) => begun.get(id)?.hasMessages),
  );
  const byItem = Map.groupBy(stored, (message) => message.work_item_id);
  const added: ReturnType<typeof messageRows> = [];
  const opened = openings.map(({ item, instructions }): Opened | undefined => {
    const attempt = begun.get(item.id);
    if (!attempt) return alone ? 'lost' : undefined;
    if (attempt.cancelRequested) return 'cancelled';
    const before = (byItem.get(item.id) ?? []).map(fromStored);
    const first = firstMessages(item, instructions, before);
    added.push(...messageRows(item, first));
    return { ...attempt, context: cutOf(attempt.contextCut), messages: [...before, ...first] };
  });
  await workItemCalls.appendMessagesLater(tx, added);
  return opened;
};

/** An attempt that ends its execution. */
interface EndingItem {
  item: WorkItem;
  ending: Ending;
  /** Messages to store with the end, unless a cancel was first. */
  messages: readonly Message[];
  steps: readonly StepRecord[];
}

/** Stores the last messages and steps of those that ended. */
const storeLast = async (
  tx: Tx,
  endings: readonly EndingItem[],
  moved: readonly WorkItem[],
): Promise<void> => {
  const statusOf = new Map(moved.map(({ id, status }) => [id, status]));
  const ended = endings.filter(({ item }) => statusOf.has(item.id));
  const last = ended.map(({ item, ending, messages, steps }) => ({
    item,
    steps,
    rows: statusOf.get(item.id) === ending.status ? messageRows(item, messages) : [],
  }));
  const seqs = await workItemCalls.appendMessages(
    tx,
    last.flatMap(({ rows }) => rows),
  );
  let from = 0;
  const stepsOfAll = last.flatMap(({ item, steps, rows }) => {
    const own = seqs.slice(from, from + rows.length);
    from += rows.length;
    return stepRows(item, steps, own);
  });
  await workItemCalls.insertEndedSteps(tx, stepsOfAll);
};

/** The status that the attempt left; null if its lease was lost. */
const endAll = async (
  tx: Tx,
  endings: readonly EndingItem[],
  alone: boolean,
): Promise<(WorkItem['status'] | null | undefined)[]> => {
  const all = endings.map(({ ending }) => ending);
  const moved = await workItemRuns.finishAll(tx, all, {
    skipLocked: !alone,
    before: (rows) => storeLast(tx, endings, rows),
  });
  const statusOf = new Map(moved.map(({ id, status }) => [id, status]));
  if (alone && moved.length === 0) await workItemRuns.recordLateFinish(tx, all[0]!);
  return endings.map(({ item }) => statusOf.get(item.id) ?? (alone ? null : undefined));
};

/** The begins and the ends of the attempts of a replica, each in one transaction with those of the same moment. */
export interface WorkItemBatches {
  open: Batch<Opening, Opened>;
  end: Batch<EndingItem, WorkItem['status'] | null>;
}

export const workItemBatches = (db: Database): WorkItemBatches => ({
  open: new Batch({ most, atOnce, run: (openings, alone) => db.tx((tx) => openAll(tx, openings, alone)) }),
  end: new Batch({ most, atOnce, run: (endings, alone) => db.tx((tx) => endAll(tx, endings, alone)) }),
});
