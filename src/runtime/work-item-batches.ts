import type { Database, Tx } from '../database/index.ts';
import { Batch } from '../lib/batch.ts';
import { newId } from '../lib/ids.ts';
import type { AttemptStart, Ending } from '../runs/index.ts';
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
    id: newId(),
    work_item_id: item.id,
    conversation_id: item.conversation_id,
    role: message.role,
    content: toContent(message),
    ...(message.role === 'assistant' && { provider_parts: message.provider_parts }),
  }));

/** Steps of an attempt as they are stored; `messages` are the rows of its messages. */
export const stepRows = (
  item: WorkItem,
  steps: readonly StepRecord[],
  messages: readonly { id: string }[],
) => {
  const now = performance.now();
  return steps.map(({ message, beganAt, endedAt, spanId, ...step }) => ({
    ...step,
    span_id: spanId,
    work_item_id: item.id,
    beganMsAgo: now - beganAt,
    endedMsAgo: now - endedAt,
    message_id: message === null ? null : (messages[message]?.id ?? null),
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

const leasesOf = (openings: readonly Opening[]) =>
  openings.map(({ item: { id, fencing }, traceId }) => ({ id, fencing, traceId }));

const startOf = (attempt: AttemptStart, messages: Message[]): RunStart => ({
  ...attempt,
  context: cutOf(attempt.contextCut),
  messages,
});

/** Those that have messages already get what they lack in a transaction; `alone`: it waits for a row that is locked. */
const openStored = async (
  tx: Tx,
  openings: readonly Opening[],
  alone: boolean,
): Promise<(Opened | undefined)[]> => {
  const begun = await workItemRuns.begin(tx, leasesOf(openings), { skipLocked: !alone });
  const stored = await workItemCalls.listMessagesOfMany(
    tx,
    openings.map(({ item }) => item),
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
    return startOf(attempt, [...before, ...first]);
  });
  await workItemCalls.appendMessages(tx, added);
  return opened;
};

/** Nearly all have no messages yet: one statement, which is its own transaction, is enough for them. */
const openAll = async (
  db: Database,
  openings: readonly Opening[],
  alone: boolean,
): Promise<(Opened | undefined)[]> => {
  const first = openings.map(({ item, instructions }) => firstMessages(item, instructions, []));
  const rows = openings.flatMap(({ item }, i) => messageRows(item, first[i]!));
  const begun = await db.run((executor) =>
    workItemRuns.begin(executor, leasesOf(openings), {
      skipLocked: !alone,
      alongside: workItemCalls.firstMessageInsertion(rows),
    }),
  );
  const opened = openings.map(({ item }, i): Opened | undefined => {
    const attempt = begun.get(item.id);
    if (!attempt) return alone ? 'lost' : undefined;
    return attempt.cancelRequested ? 'cancelled' : startOf(attempt, first[i]!);
  });
  const stored = openings.filter(({ item }) => {
    const attempt = begun.get(item.id);
    return attempt?.hasMessages && !attempt.cancelRequested;
  });
  if (stored.length === 0) return opened;
  const more = await db.tx((tx) => openStored(tx, stored, alone));
  return openings.map((opening, i) => {
    const at = stored.indexOf(opening);
    return at === -1 ? opened[i] : more[at];
  });
};

/** An attempt that ends its execution. */
interface EndingItem {
  item: WorkItem;
  ending: Ending;
  /** Messages to store with the end, unless a cancel was first. */
  messages: readonly Message[];
  steps: readonly StepRecord[];
  /** Resolves when its trace is durable. */
  durable: Promise<void>;
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
  await workItemCalls.insertEndedSteps(
    tx,
    last.flatMap(({ item, steps, rows }) => stepRows(item, steps, rows)),
    last.flatMap(({ rows }) => rows),
  );
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
  // While the rows were locked, the traces were written.
  await Promise.all(endings.map(({ durable }) => durable));
  return endings.map(({ item }) => statusOf.get(item.id) ?? (alone ? null : undefined));
};

/** The begins and the ends of the attempts of a replica, each in one transaction with those of the same moment. */
export interface WorkItemBatches {
  open: Batch<Opening, Opened>;
  end: Batch<EndingItem, WorkItem['status'] | null>;
}

export const workItemBatches = (db: Database): WorkItemBatches => ({
  open: new Batch({ most, atOnce, run: (openings, alone) => openAll(db, openings, alone) }),
  end: new Batch({ most, atOnce, run: (endings, alone) => db.tx((tx) => endAll(tx, endings, alone)) }),
});
