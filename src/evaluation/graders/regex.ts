import { Worker } from 'node:worker_threads';
import { Mutex } from '../../lib/semaphore.ts';

/** The time that one match may take, in milliseconds. */
const matchWithinMs = 1_000;

/** Regular expressions of people, on a thread of their own: one that backtracks for years blocks nothing but that. */
export interface PatternMatcher {
  /** Returns whether the pattern is found; null if that took longer than 1 s. */
  test(pattern: string, flags: string, text: string): Promise<boolean | null>;
  close(): Promise<void>;
}

type Settle = (end: { found: boolean | null } | { error: unknown }) => void;

export const createPatternMatcher = (): PatternMatcher => {
  const oneAtATime = new Mutex();
  let thread: Worker | null = null;
  let settle: Settle = () => {};
  let timer: NodeJS.Timeout | undefined;

  const drop = async (): Promise<void> => {
    const dropped = thread;
    thread = null;
    await dropped?.terminate();
  };

  const start = (): Worker => {
    const started = new Worker(new URL('./regex-worker.ts', import.meta.url));
    started.on('message', (message: 'begun' | boolean) => {
      if (message !== 'begun') return settle({ found: message });
      // The second begins with the matching: the start of a thread may take longer on a busy machine.
      timer = setTimeout(() => void drop().then(() => settle({ found: null })), matchWithinMs);
    });
    const failed = (error: unknown): void => {
      if (thread !== started) return;
      thread = null;
      settle({ error });
    };
    started.on('error', failed);
    started.on('exit', () => failed(new Error('the thread of regular expressions ended')));
    // It does not keep the process alive.
    started.unref();
    return started;
  };

  const match = async (pattern: string, flags: string, text: string): Promise<boolean | null> => {
    thread ??= start();
    const ended = new Promise<Parameters<Settle>[0]>((resolve) => {
      settle = resolve;
    });
    thread.postMessage({ pattern, flags, text });
    const end = await ended;
    clearTimeout(timer);
    if ('error' in end) throw end.error;
    return end.found;
  };

  return {
    test: (pattern, flags, text) => oneAtATime.run(() => match(pattern, flags, text)),
    close: drop,
  };
};
