import type { Database, Executor } from '../database/index.ts';
import type { StreamEvent, StreamSource } from '../event-streams/index.ts';
import { Batch } from '../lib/batch.ts';
import { listEvents, type Unread } from './event-store.ts';
import { findRun } from './run-store.ts';
import { findConversation } from './store.ts';

/** Number of events of a conversation that are read at once, and approximate limit of all that are read together. */
const pageSize = 200;
const eventsAtOnce = 1_000;

/** A part of the events of a conversation. */
export interface Stretch {
  conversationId: string;
  /** The number of the event before the first one. */
  after: number;
  /** The stream ends with the first `run.completed` that has this number or a higher one. */
  endsFrom: number;
}

/** The events of a run from its start, or from where it was continued. */
export const stretchOfRun = (conversationId: string, firstSeq: number): Stretch => ({
  conversationId,
  after: firstSeq - 1,
  endsFrom: firstSeq,
});

/**
 * Returns the stretch that follows `lastEventId` (null: the active run from its start). Resolves to null if there is
 * nothing and nothing comes.
 */
export const findStretch = async (
  executor: Executor,
  conversationId: string,
  lastEventId: number | null,
): Promise<Stretch | null> => {
  const conversation = await findConversation(executor, conversationId);
  if (!conversation) return null;
  const { active_run_id, last_seq, status } = conversation;
  const active = active_run_id === null ? undefined : await findRun(executor, active_run_id);
  if (lastEventId === null && !active) return null;
  const after = lastEventId === null ? active!.first_seq - 1 : Math.min(lastEventId, last_seq);
  if (active && status === 'running') return { conversationId, after, endsFrom: active.first_seq };
  const [left] = await listEvents(executor, [{ scope: conversationId, after }], 1);
  return left!.length > 0 ? { conversationId, after, endsFrom: last_seq } : null;
};

/** Returns whether a run of the conversation is in progress. */
const isLive = async (executor: Executor, conversationId: string): Promise<boolean> =>
  (await findConversation(executor, conversationId))?.status === 'running';

/** The next events of a conversation. `more`: there may be others already. */
interface EventPage {
  events: readonly StreamEvent[];
  more: boolean;
}

/** Reads events. Streams that read at the same moment share a statement, and those of one conversation its rows. */
export type ReadEvents = (unread: Unread) => Promise<EventPage>;

export const createReadEvents = (db: Database): ReadEvents => {
  const batch = new Batch<Unread, EventPage>({
    most: 500,
    atOnce: 4,
    run: async (inputs) => {
      const keyOf = ({ scope, after }: Unread): string => `${scope}:${after}`;
      const distinct = new Map(inputs.map((unread) => [keyOf(unread), unread]));
      const limit = Math.min(pageSize, Math.ceil(eventsAtOnce / distinct.size));
      const lists = await db.run((executor) => listEvents(executor, [...distinct.values()], limit));
      const pages = new Map([...distinct.keys()].map((key, i) => [key, lists[i]!]));
      return inputs.map((unread) => {
        const events = pages.get(keyOf(unread))!;
        return { events, more: events.length === limit };
      });
    },
  });
  return (unread) => batch.add(unread);
};

/** Reads a stretch, live when it comes to its end. */
export const conversationSource = (
  db: Database,
  readEvents: ReadEvents,
  { conversationId, after: first, endsFrom }: Stretch,
): StreamSource => {
  let after = first;
  return {
    read: async () => {
      const list = () => readEvents({ scope: conversationId, after });
      let { events, more } = await list();
      if (events.length === 0) {
        if (await db.run((executor) => isLive(executor, conversationId)))
          return { events, ended: false, more: false };
        // Events that came in the meantime are the last.
        ({ events, more } = await list());
        if (events.length === 0) return { events, ended: true, more: false };
      }
      after = events.at(-1)!.seq;
      const end = events.findIndex(({ type, seq }) => type === 'run.completed' && seq >= endsFrom);
      if (end !== -1) return { events: events.slice(0, end + 1), ended: true, more: false };
      return { events, ended: false, more };
    },
  };
};
