import type { ApiError } from '../lib/errors.ts';
import type { Watch } from './watcher.ts';

/** An event as it is sent. */
export interface StreamEvent {
  /** 1, 2, … without gaps, the same on every replica. */
  seq: number;
  type: string;
  /** JSON on one line. */
  data: string;
}

export interface StreamSource {
  /** The next events, oldest first; `ended`: none will follow them. `more`: there are more already. */
  read(): Promise<{ events: readonly StreamEvent[]; ended: boolean; more: boolean }>;
}

export const eventStreamType = 'text/event-stream';

/** The headers of an event stream: no proxy may hold it back or change it. */
export const eventStreamHeaders = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Time that a client waits before it connects again, in milliseconds. */
const reconnectMs = 2_000;
/** A comment is sent this often, so that no proxy closes an idle connection. */
const commentEveryMs = 15_000;

const format = ({ seq, type, data }: StreamEvent): string => `id: ${seq}\nevent: ${type}\ndata: ${data}\n\n`;

const readNext = async (source: StreamSource): ReturnType<StreamSource['read']> => {
  try {
    return await source.read();
  } catch (error) {
    // The stream goes on when the database responds again.
    if ((error as ApiError).code !== 'service_unavailable') throw error;
    return { events: [], ended: false, more: false };
  }
};

/**
 * The text of a stream of server-sent events (HTML standard, section 9.2), until the source ends or `signal` is aborted.
 * `openWatch` is called when someone begins to read, because a stream that no one reads closes nothing.
 */
export async function* eventStream(
  source: StreamSource,
  openWatch: () => Watch,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const watch = openWatch();
  try {
    yield `retry: ${reconnectMs}\n\n`;
    let nextComment = performance.now() + commentEveryMs;
    while (!signal.aborted) {
      const { events, ended, more } = await readNext(source);
      if (events.length > 0) yield events.map(format).join('');
      if (ended) return;
      if (performance.now() >= nextComment) {
        yield ': keep-alive\n\n';
        nextComment = performance.now() + commentEveryMs;
      }
      if (!more) await watch.changed(nextComment - performance.now(), signal);
    }
  } finally {
    watch.close();
  }
}
