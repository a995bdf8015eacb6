import { ApiError } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';

/**
 * Number of streams that one key may have open on a replica, and all keys of one person or service account together.
 */
const mostStreams = { key: 100, root: 150 };

const tooMany = (whose: string, most: number) =>
  new ApiError(
    'too_many_requests',
    `${whose} ${most} open streams on this replica. Close some of them first.`,
    {},
    { 'retry-after': '5' },
  );

/** Counts the open streams of each key, and of each person or service account. */
export class OpenStreams {
  readonly #open = new Map<string, number>();

  /** Counts a stream until `closed` is aborted. Throws 429 if the key or its root has too many. */
  open({ keyId, id, rootId }: Principal, closed: AbortSignal): void {
    const names = [`key ${keyId ?? id}`, `root ${rootId}`] as const;
    const [byKey, byRoot] = names.map((name) => this.#open.get(name) ?? 0) as [number, number];
    if (byKey >= mostStreams.key) throw tooMany('This API key has', mostStreams.key);
    if (byRoot >= mostStreams.root) {
      throw tooMany('The API keys of one person or service account have', mostStreams.root);
    }
    if (closed.aborted) return;
    for (const name of names) this.#count(name, 1);
    closed.addEventListener(
      'abort',
      () => {
        for (const name of names) this.#count(name, -1);
      },
      { once: true },
    );
  }

  #count(name: string, by: 1 | -1): void {
    const open = (this.#open.get(name) ?? 0) + by;
    if (open > 0) this.#open.set(name, open);
    else this.#open.delete(name);
  }
}
