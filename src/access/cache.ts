import { LRUCache } from 'lru-cache';

/** The life of a cached look-up, in milliseconds. A change whose notification was lost takes effect after this time. */
const cacheTtlMs = 900;
const maxCached = 10_000;

/** A cache of keys or sessions, each for at most 0.9 s. */
export class AccessCache<T extends object> {
  /** `clear` raises it, so that a look-up that began before is not cached afterwards. */
  #generation = 0;
  // Its time is performance.now(): a revoked key must not live longer because the clock is set back.
  readonly #cached = new LRUCache<string, T>({ max: maxCached });

  clear(): void {
    this.#generation++;
    this.#cached.clear();
  }

  /** Returns what is cached under `name`, or what `lookUp` resolves to, which is cached for `validForMs` at most. */
  async get(name: string, lookUp: () => Promise<T>, validForMs: (found: T) => number): Promise<T> {
    const cached = this.#cached.get(name);
    if (cached) return cached;
    const generation = this.#generation;
    const queriedAt = performance.now();
    const found = await lookUp();
    // The rows are as old as the start of the query.
    const ttl = Math.floor(Math.min(cacheTtlMs, validForMs(found)) - (performance.now() - queriedAt));
    if (generation === this.#generation && ttl > 0) this.#cached.set(name, found, { ttl });
    return found;
  }
}
