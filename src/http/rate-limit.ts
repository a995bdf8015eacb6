import type { Clock } from '../lib/clock.ts';

/** What a bucket says of a request: whether it may pass, and how many more may pass at once. */
export interface Allowance {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the next request may pass; 0 where this one may. */
  retryAfter: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Beyond so many buckets the oldest is forgotten for each new one; a forgotten one is full again. */
const maxBuckets = 100_000;

/** Token buckets by name: each holds `burst` and gains `perSecond`. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  #refilled(name: string, perSecond: number, burst: number): Bucket {
    const now = this.#clock.now();
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      if (this.#buckets.size >= maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value!);
      bucket = { tokens: burst, at: now };
      this.#buckets.set(name, bucket);
    }
    // A clock that went back adds nothing and takes nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }

  /** Take one token from the bucket `name`, if it has one. */
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
