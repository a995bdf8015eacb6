import type { Socket } from 'node:net';
import { QueryFailure } from './failures.ts';

/** Milliseconds that a server has to end a statement by itself after its time limit. */
const graceMs = 2_000;

/**
 * The most bytes of one query before its rows are taken: far above an answer of 10 MB, and far below what the
 * process can hold.
 */
const mostBytes = 64 * 1024 * 1024;
/** The most bytes of one query whose rows are taken in batches and not held. */
const mostBytesInBatches = 2 * 1024 ** 3;

const checkEveryMs = 100;

const callerLeft = () => new QueryFailure('query_failed', 'The query was cancelled.');

interface WatchedQuery {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onRows?: unknown;
}

/**
 * Runs `fn`, which uses the connection `socket` and calls `taken` when it holds none of the rows that came. If the server does not respond within `timeoutMs` and a grace, sends far
 * too much, or the caller leaves, calls `end`, which must end the statement on the server and the connection, and
 * rejects at once.
 */
export const watched = async <T>(
  { socket, query: { timeoutMs, signal, onRows } }: { socket: Socket; query: WatchedQuery },
  end: () => void,
  fn: (taken: () => void) => Promise<T>,
): Promise<T> => {
  if (signal?.aborted) throw callerLeft();
  const before = socket.bytesRead;
  let takenUntil = before;
  const taken = (): void => {
    if (onRows) takenUntil = socket.bytesRead;
  };
  let fail!: (error: Error) => void;
  const over = new Promise<never>((_resolve, reject) => {
    fail = (error) => {
      reject(error);
      end();
    };
  });
  const timer = setTimeout(() => fail(timedOut()), timeoutMs + graceMs);
  const counter = setInterval(() => {
    const { bytesRead } = socket;
    if (bytesRead - takenUntil > mostBytes || bytesRead - before > mostBytesInBatches) {
      fail(new QueryFailure('too_large', 'The rows of the query are too large.'));
    }
  }, checkEveryMs);
  const left = () => fail(callerLeft());
  signal?.addEventListener('abort', left);
  try {
    const running = fn(taken);
    // It fails, too, once the connection has ended.
    running.catch(() => {});
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
    clearInterval(counter);
    signal?.removeEventListener('abort', left);
  }
};

export const timedOut = (): QueryFailure =>
  new QueryFailure('timeout', 'The query took longer than DATA_QUERY_TIMEOUT_SECONDS.');
