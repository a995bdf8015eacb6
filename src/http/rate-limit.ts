import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';

/** The decision whether a request may pass, and how many more may pass at once. */
export interface Allowance {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the next request may pass; 0 if this one may. */
  retryAfter: number;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was last correct, by the clock. */
  at: number;
}

/** With more buckets than this, the least recently used one is dropped; it is full when it is used again. */
const maxBuckets = 100_000;

/** Token buckets by name. Each holds at most `burst` tokens and gains `perSecond`. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets = new LRUCache<string, Bucket>({ max: maxBuckets });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  #refilled(name: string, perSecond: number, burst: number): Bucket {
    const now = this.#clock.now();
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      bucket = { tokens: burst, at: now };
      this.#buckets.set(name, bucket);
    }
    // A clock that was set back adds nothing and takes nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }

  /** Takes one token from the bucket `name`, if it has one. */
  take(name: string, perSecond: number, burst: number): Allowance {
    const bucket = this.#refilled(name, perSecond, burst);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
    };
  }
}
