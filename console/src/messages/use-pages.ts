import { useState } from 'react';
import { call, type InputOf, type Output, type Params, useAction } from '../api/index.ts';

type ListId = 'listShownMessages' | 'listShownConversationMessages';

interface Older<M> {
  /** Newest first, without those of the first page. */
  messages: readonly M[];
  next: string;
}

/**
 * Messages, newest first: the first page, which is read again as they come, and the older pages that someone
 * asked for. What leaves the first page while it grows is kept.
 */
export const useMessagePages = <O extends ListId>(operation: O, params: Params<O>, page: Output<O>) => {
  type M = Output<O>['data'][number];
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
    const { body } = await call(operation, params, ...([{ query }] as unknown as InputOf<O>));
    setOlder({ messages: [...(older?.messages ?? []), ...body.data], next: body.next });
  });
  return {
    messages: (older ? [...page.data, ...older.messages] : page.data) as readonly Output<O>['data'][number][],
    hasMore: (older ? older.next : page.next) !== '',
    load,
  };
};
