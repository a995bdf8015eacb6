import { createParser } from 'eventsource-parser';

/** An event as a client of server-sent events gets it. */
export interface ReceivedEvent {
  id: number;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
  data: any;
  /** By performance.now(). */
  receivedAt: number;
}

export interface EventStream {
  status: number;
  headers: Headers;
  /** What came so far. */
  events: ReceivedEvent[];
  comments: string[];
  /** The whole text so far. */
  text: () => string;
  /** Resolves to the first event that `matches`, now or later. Rejects if the stream ends without one. */
  find(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Resolves when the server has ended the stream; rejects if it was cut off. */
  ended: Promise<void>;
  /** Disconnects. */
  close(): void;
}

/** Opens a stream of server-sent events, and reads it by the grammar of the HTML standard, section 9.2. */
export const openEventStream = async (
  url: string,
  {
    key,
    body,
    lastEventId,
  }: { key: string | undefined; body?: unknown; lastEventId?: number | string | undefined },
): Promise<EventStream> => {
  const abort = new AbortController();
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: abort.signal,
  });
  let text = '';
  const events: ReceivedEvent[] = [];
  const comments: string[] = [];
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) =>
      events.push({ id: Number(id), event, data: JSON.parse(data), receivedAt: performance.now() }),
    onComment: (comment) => comments.push(comment.trim()),
  });
  let over = false;
  const read = async (): Promise<void> => {
    try {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        const more = decoder.decode(chunk, { stream: true });
        text += more;
        parser.feed(more);
        for (const wake of waiting) wake();
      }
    } finally {
      over = true;
      for (const wake of waiting) wake();
    }
  };
  const ended = read();
  ended.catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    events,
    comments,
    text: () => text,
    find: (matches) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(matches);
          if (!found && !over) return;
          waiting.delete(look);
          if (found) resolve(found);
          else reject(new Error(`the stream ended without it: ${text.slice(-2_000)}`));
        };
        waiting.add(look);
        look();
      }),
    ended,
    close: () => abort.abort(),
  };
};
