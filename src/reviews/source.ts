import type { RawBuilder, Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import type { Via } from '../runs/index.ts';
import type { Stay } from './calls.ts';
import type { DecideBody } from './schemas.ts';
import type { Review } from './store.ts';

/** How a decision came, and what else the audit log says of it. */
export interface DecidedBy {
  via: Via;
  details?: Record<string, unknown> | undefined;
}

/** The review that someone decides on (null: they continue what waits, whatever its review is), and how. */
export interface Deciding {
  review: Review | null;
  by: DecidedBy;
}

/** What reviews need of those who wait: Work Items, and runs of conversations. */
export interface ReviewSource {
  /**
   * Applies a decision as the operation of the source does. Throws its 403, 412 and 422, and the 412 with the review if that
   * is closed by then.
   */
  decide(tx: Tx, actor: Actor, review: Review, body: DecideBody, by: DecidedBy): Promise<void>;
  /** Locks what waits, so that no one decides on it or cancels it before the transaction ends. */
  lock(tx: Tx, review: Review): Promise<void>;
  /** Denies all that the locked one is asked, because no one decided within `time`, and lets it go on. */
  deny(tx: Tx, actor: Actor, review: Review, time: string): Promise<void>;
  /** Cancels the locked one, because no one decided. */
  cancel(tx: Tx, actor: Actor, review: Review): Promise<void>;
  /** A query for the ids of those that wait without an open review. */
  unreviewed: RawBuilder<unknown>;
  /** Locks one that waits. Undefined if it does not any more. */
  lockWaiting(tx: Tx, id: string): Promise<Stay | undefined>;
  /** Conditions of the review `r`: with each of them, no Work Item or run waits for what it asks. */
  outdated: readonly RawBuilder<unknown>[];
}
