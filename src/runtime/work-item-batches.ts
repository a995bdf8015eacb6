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
type Opened = RunStart | 'lost' | 'cancelled';

const leasesOf = (openings: readonly Opening[]) =>
  openings.map(({ item: { id, fencing }, traceId }) => ({ id, fencing, traceId }));

const startOf = (attempt: AttemptStart, messages: Message[]): RunStart => ({
  ...attempt,
  context: cutOf(attempt.contextCut),
  messages,
});

/** Begins attempts whose conversation is stored, and adds the messages that are missing. `alone`: waits for locked rows. */
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

/** Begins first attempts in one statement. Left out are those that have messages, because a person continued. */
const openFirst = async (
  db: Database,
  openings: readonly Opening[],
  alone: boolean,
): Promise<Map<Opening, Opened | undefined>> => {
  if (openings.length === 0) return new Map();
  const first = openings.map(({ item, instructions }) => firstMessages(item, instructions, []));
  const rows = openings.flatMap(({ item }, i) => messageRows(item, first[i]!));
  const begun = await db.run((executor) =>
    workItemRuns.begin(executor, leasesOf(openings), {
      skipLocked: !alone,
      alongside: workItemCalls.firstMessageInsertion(rows),
    }),
  );
  const opened = new Map<Opening, Opened | undefined>();
  for (const [i, opening] of openings.entries()) {
    const attempt = begun.get(opening.item.id);
    if (!attempt) opened.set(opening, alone ? 'lost' : undefined);
    else if (attempt.cancelRequested) opened.set(opening, 'cancelled');
    else if (!attempt.hasMessages) opened.set(opening, startOf(attempt, first[i]!));
  }
  return opened;
};

/** Begins attempts. Most have no messages yet: for them one statement is enough. */
const openAll = async (
  db: Database,
  openings: readonly Opening[],
  alone: boolean,
): Promise<(Opened | undefined)[]> => {
  const opened = await openFirst(
    db,
    openings.filter(({ item }) => item.attempts === 1),
    alone,
  );
  const stored = openings.filter((opening) => !opened.has(opening));
  const more = stored.length > 0 ? await db.tx((tx) => openStored(tx, stored, alone)) : [];
  for (const [i, opening] of stored.entries()) opened.set(opening, more[i]);
  return openings.map((opening) => opened.get(opening));
};

/** An attempt that ends its execution. */
interface EndingItem {
  item: WorkItem;
  ending: Ending;
  /** Messages to store with the end, unless a cancel was first. */
  messages: readonly Message[];
  steps: readonly StepRecord[];
  /** Resolves when its trace is durable, or cannot be waited for any longer. Never rejects. */
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
  // The traces are written while the rows are locked.
  await Promise.all(endings.map(({ durable }) => durable));
  return endings.map(({ item }) => statusOf.get(item.id) ?? (alone ? null : undefined));
};

/** If traces take longer than this until they are durable, in ms, no transaction waits for them. */
const mostWaitMs = 50;

/** The begins and the ends of the attempts of a replica, each together with those of the same moment. */
export interface WorkItemBatches {
  open(opening: Opening): Promise<Opened>;
  end(ending: EndingItem): Promise<WorkItem['status'] | null>;
}

export const workItemBatches = (db: Database): WorkItemBatches => {
  const begins = new Batch<Opening, Opened>({
    most,
    atOnce,
    run: (openings, alone) => openAll(db, openings, alone),
  });
  const ends = new Batch<EndingItem, WorkItem['status'] | null>({
    most,
    atOnce,
    run: (endings, alone) => db.tx((tx) => endAll(tx, endings, alone)),
  });
  /** Of the newest trace. */
  let tookMs = 0;
  const timed = async (durable: Promise<void>): Promise<void> => {
    const begun = performance.now();
    await durable;
    tookMs = performance.now() - begun;
  };
  return {
    open: (opening) => begins.add(opening),
    end: async (ending) => {
      const durable = timed(ending.durable);
      // The embedded database has one connection: while a transaction waits, everything waits.
      if (db.kind === 'embedded' || tookMs > mostWaitMs) await durable;
      return ends.add({ ...ending, durable });
    },
  };
};
