import { useState } from 'react';
import { request, useAction } from '../api/index.ts';

/** A page of messages, newest first. `next` is empty at the end. */
interface MessagePage<M> {
  data: readonly M[];
  next: string;
}

interface Older<M> {
  /** Newest first, without those of the first page. */
  messages: readonly M[];
  next: string;
}

/**
 * Messages, newest first: the first page, which is read again as they come, and the older pages of `path` that someone
 * asked for. What leaves the first page while it grows is kept.
 */
export const useMessagePages = <M extends { id: string }>(path: string, page: MessagePage<M>) => {
  const [older, setOlder] = useState<Older<M> | null>(null);
  const [seen, setSeen] = useState(page.data);
  if (seen !== page.data) {
    const fresh = new Set(page.data.map(({ id }) => id));
    const left = seen.filter(({ id }) => !fresh.has(id));
    // Without an overlap there may be a gap: older pages are read again.
    const overlaps = left.length < seen.length;
    setSeen(page.data);
    if (older && overlaps) setOlder({ ...older, messages: [...left, ...older.messages] });
    else if (older) setOlder(null);
  }
  const load = useAction(async () => {
    const query = { next: older ? older.next : page.next, limit: 50 };
    const { body } = await request<MessagePage<M>>('GET', path, { query });
    setOlder({ messages: [...(older?.messages ?? []), ...body.data], next: body.next });
  });
  return {
    messages: older ? [...page.data, ...older.messages] : page.data,
    hasMore: (older ? older.next : page.next) !== '',
    load,
  };
};
