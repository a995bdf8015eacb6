import type { Database } from '../database/index.ts';
import {
  eventStream,
  eventStreamHeaders,
  eventStreamType,
  lastEventIdOf,
  lastEventIdQuery,
  type OpenStreams,
  type StreamSource,
  type Watcher,
} from '../event-streams/index.ts';
import { finder, type Route, streamRoute } from '../http/index.ts';
import { findWorkItem } from './store.ts';
import { workItemSource } from './stream.ts';

export interface StreamParts {
  db: Database;
  watcher: Watcher;
  openStreams: OpenStreams;
}

/** `source` with what it gives first already read; null if that is nothing, and nothing comes. */
const begun = async (source: StreamSource): Promise<StreamSource | null> => {
  let first: Awaited<ReturnType<StreamSource['read']>> | null = await source.read();
  while (first.events.length === 0 && first.more) first = await source.read();
  if (first.events.length === 0 && first.ended) return null;
  return {
    read: async () => {
      if (first === null) return source.read();
      const { events, ended } = first;
      first = null;
      // Happenings since that read were not watched: they are read next.
      return { events, ended, more: true };
    },
  };
};

export const streamRoutes = ({ db, watcher, openStreams }: StreamParts): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItem);
  const follow = (own: { id: string; base: 'v2' | 'app' }): Route =>
    streamRoute({
      ...own,
      role: 'member',
      scope: 'work_items:read',
      request: 'GET /work-items/{work_item_id}/stream',
      summary: 'Follow a Work Item',
      description:
        'What happened after `Last-Event-ID`, or without it from its creation, and then what happens until it is finished (server-sent events).',
      find,
      query: lastEventIdQuery,
      type: eventStreamType,
      orNothing: true,
      handler: async ({ found, headers, query, principal, signal, header }) => {
        const after = lastEventIdOf(headers, query) ?? 0;
        const source = await begun(workItemSource(db, found.id, after));
        if (!source) return null;
        openStreams.open(principal, signal);
        for (const [name, value] of Object.entries(eventStreamHeaders)) header(name, value);
        return eventStream(source, () => watcher.watch(found.id), signal);
      },
    });
  return [follow({ id: 'followWorkItem', base: 'v2' }), follow({ id: 'followWorkItemForPage', base: 'app' })];
};
