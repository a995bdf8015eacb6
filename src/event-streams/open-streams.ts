import { ApiError } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';

/** How many streams one key may have open on a replica. */
const mostStreams = 100;

/** Counts the open streams of each key. */
export class OpenStreams {
  readonly #open = new Map<string, number>();

  /** Counts one more until `closed` is aborted. Throws 429 if the key has too many. */
  open({ keyId, id }: Principal, closed: AbortSignal): void {
    const key = keyId ?? id;
    const open = this.#open.get(key) ?? 0;
    if (open >= mostStreams) {
      throw new ApiError(
        'too_many_requests',
        `This API key has ${mostStreams} open streams on this replica. Close some of them first.`,
        {},
        { 'retry-after': '5' },
      );
    }
    if (closed.aborted) return;
    this.#open.set(key, open + 1);
    closed.addEventListener(
      'abort',
      () => {
        const left = this.#open.get(key)! - 1;
        if (left > 0) this.#open.set(key, left);
        else this.#open.delete(key);
      },
      { once: true },
    );
  }
}
