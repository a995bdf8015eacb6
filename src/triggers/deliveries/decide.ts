import { sha256 } from '../../lib/crypto.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import type { Judgement } from '../expressions/index.ts';
import { type Delivery, deepest, type Outcome } from './delivery.ts';
import type { LockedTrigger } from './store.ts';

/** The Work Item that an event makes. */
interface Start {
  message: string;
  workItemName: string | null;
  payload: Record<string, unknown>;
  /** Null: at once. */
  at: Date | null;
  /** SHA-256 of the key of `dedup` that it takes; null without one. */
  key: string | null;
}

export interface Decision {
  outcome: Outcome;
  reason: string | null;
  /** The event that started the Work Item of the same key. */
  originalId: string | null;
  start: Start | null;
}

/** The event that took a key of `dedup`, and whether it is still in the ledger. */
export interface TakenKey {
  eventId: string;
  at: number;
  isKept: boolean;
}

const minute = 60_000;
const longestQueueMs = 86_400_000;

const none = (outcome: Outcome, reason: string | null, originalId: string | null = null): Decision => ({
  outcome,
  reason,
  originalId,
  start: null,
});

/** The key of `dedup` as it is stored. Keys are the same if they are equal as canonical JSON. */
const keyHash = (key: unknown): string => sha256(rfc8785(key));

/** Returns what `dedup` looks up for an event that is judged; null if nothing. */
export const keyOf = (judgement: Judgement): string | null =>
  judgement.outcome === 'ready' && judgement.key !== null ? keyHash(judgement.key) : null;

/**
 * The state of one trigger within a transaction that has locked its row: what is decided first counts for what is
 * decided next.
 */
export class Decider {
  readonly trigger: LockedTrigger;
  readonly #now: number;
  readonly #taken: Map<string, TakenKey>;
  /** When the bucket is full again, in milliseconds since 1970. */
  #fullAt: number;

  constructor(trigger: LockedTrigger, taken: ReadonlyMap<string, TakenKey>) {
    this.trigger = trigger;
    this.#now = trigger.now.getTime();
    this.#taken = new Map(taken);
    this.#fullAt = Math.max(this.#now, trigger.bucket_full_at ?? this.#now);
  }

  /** When the bucket is full again, if a Work Item was taken from it. */
  get bucketFullAt(): number {
    return this.#fullAt;
  }

  /** Decides on a new event, in the order pause, filter, mapping and key, dedup, limit. What is wrong with its body comes first. */
  decide(delivery: Delivery, judgement: Judgement): Decision {
    const { known, depth, occurrenceId } = delivery;
    if (known && known.outcome !== 'filtered') return none(known.outcome, known.reason);
    if (!this.trigger.enabled) return none('paused', 'The trigger was paused.');
    if (known) return none(known.outcome, known.reason);
    if (judgement.outcome !== 'ready') return none(judgement.outcome, judgement.reason);
    const key = keyOf(judgement);
    const taken = key === null ? null : this.#takenBy(key);
    if (taken) return none('duplicate', 'The same key has started a Work Item.', taken.eventId);
    if (depth > deepest) {
      return none('limited', `It is the sixth of a chain of Work Items that start each other.`);
    }
    const at = this.#takeTurn();
    if (typeof at === 'string') return none('limited', at);
    if (key !== null) this.#taken.set(key, { eventId: occurrenceId, at: this.#now, isKept: true });
    const { message, workItemName, payload } = judgement;
    const start = { message, workItemName, payload, at, key };
    return { outcome: 'fired', reason: null, originalId: null, start };
  }

  /** The window runs from the start of the Work Item, and is not extended by what it keeps away. */
  #takenBy(key: string): TakenKey | null {
    const taken = this.#taken.get(key);
    if (!taken) return null;
    const { window_seconds: window } = this.trigger.dedup ?? { window_seconds: null };
    const holds = window === null ? taken.isKept : this.#now - taken.at < window * 1_000;
    return holds ? taken : null;
  }

  /** Takes a Work Item from the bucket. Returns when it starts (null: at once), or why there is none. */
  #takeTurn(): Date | null | string {
    const limit = this.trigger.rate_limit;
    if (!limit) return null;
    const interval = minute / limit.per_minute;
    const waitMs = this.#fullAt + interval - minute - this.#now;
    // Sums of fractions of a millisecond are not exact.
    if (waitMs <= 1e-3) {
      this.#fullAt += interval;
      return null;
    }
    if (limit.over === 'skip') return `More than ${limit.per_minute} events a minute came.`;
    if (waitMs > longestQueueMs) return 'It would have started more than 24 h later.';
    this.#fullAt += interval;
    return new Date(this.#now + Math.ceil(waitMs));
  }
}
