import { Readable } from 'node:stream';
import type { ApiError } from '../lib/errors.ts';

/**
 * The interval in milliseconds at which an open request checks that its caller still has access. It ends within 5 s.
 */
const recheckEveryMs = 3_000;

/** Calls `onLost` with the error once `recheck` throws 401, 403 or 404. Returns how to stop looking. */
export const watchAccess = (
  recheck: () => Promise<void>,
  onLost: (error: ApiError) => void,
): (() => void) => {
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    recheck()
      .catch((error) => {
        // Without a database no one loses access: the next check decides.
        const { code } = error as ApiError;
        if (['unauthorized', 'forbidden', 'not_found'].includes(code)) onLost(error as ApiError);
      })
      .finally(() => {
        checking = false;
      });
  }, recheckEveryMs).unref();
  return () => clearInterval(timer);
};

/**
 * Returns a stream of `chunks` that ends with an error, so that the client sees it as cut off, once `recheck` throws 401,
 * 403 or 404. When the client leaves or access ends, `chunks` is closed. `onLost` is called then, because chunks that wait
 * for something are closed only when they come to their next one.
 */
export const guardedStream = (
  chunks: AsyncIterable<string | Uint8Array>,
  recheck: () => Promise<void>,
  onLost: () => void,
): Readable => {
  const stream = Readable.from(chunks);
  const endWatch = watchAccess(recheck, (error) => {
    stream.destroy(error);
    onLost();
  });
  return stream.once('close', endWatch);
};
