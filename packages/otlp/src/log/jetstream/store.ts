import type { Counts } from '../counts.ts';
import type { DeadLetter, DeadLetterEnd, NewDeadLetter } from '../dead-letter.ts';
import type { Checkpoint } from './aggregate.ts';

/** Position of an integration in the stream, and its owner, which delivers. */
export interface Cursor extends Counts {
  number: number;
  /** Everything up to this message is passed, and `recordOffset` spans of the next record for the integration. */
  seq: number;
  recordOffset: number;
  removed: boolean;
  owner: string | null;
  fence: number;
  version: number;
  /** No one owns it: its owner has released it, or has not renewed its lease. */
  free: boolean;
}

/**
 * Store, in a database that replicas with a common stream share too, as one replica sees it. Each call is one atomic
 * and durable change.
 */
export interface StreamStore {
  /** Id of the stream: the same on every replica. */
  readonly id: string;
  readonly deadLetters: DeadLetterStore;

  cursors(): Promise<Cursor[]>;
  /**
   * Creates a cursor at `seq`, unless there is one. `seconds`: how long this replica owns the new one; null: no one
   * does.
   */
  register(number: number, seq: number, seconds: number | null): Promise<Cursor>;
  /** Renews the leases that this replica holds, for `seconds` from now. */
  renew(seconds: number): Promise<void>;
  /** Takes over those of these that are still free. The fencing token rises: what the last owner commits is refused. */
  acquire(numbers: readonly number[], seconds: number): Promise<Cursor[]>;
  /** Gives up all leases and the leadership. */
  release(): Promise<void>;
  /** Becomes or stays the maintenance leader; false if another replica is. */
  acquireLeadership(seconds: number): Promise<boolean>;
  /**
   * Moves the cursor, adds the counts and keeps the dead letters. Resolves to null and changes nothing if this replica
   * is not the owner under `fence` any more, or if the counts do not lead to `through` passed spans: expired or removed
   * in the meantime.
   */
  commit(
    number: number,
    fence: number,
    through: number,
    position: { seq: number; recordOffset: number },
    deltas: Partial<Counts>,
    deadLetters?: readonly NewDeadLetter[],
  ): Promise<Cursor | null>;
  /**
   * Makes the counters final and removes the dead letters, which are discarded; so is what is queued, which the reader
   * of the cursor counts.
   */
  remove(number: number): Promise<Cursor>;
  /** Takes back `remove`; null if the cursor is not removed. `seconds` as for `register`. */
  restore(number: number, seconds: number | null): Promise<Cursor | null>;
  /** Counts as expired what had been accepted by the checkpoint and is not passed yet. */
  expire(checkpoint: Checkpoint): Promise<Cursor[]>;
  checkpoints(): Promise<Checkpoint[]>;
  saveCheckpoint(checkpoint: Checkpoint): Promise<void>;
  dropCheckpointsBefore(seq: number): Promise<void>;
}

/** Dead letters, which every replica lists, retries and purges. */
export interface DeadLetterStore {
  /** Oldest first. */
  ids(number: number): Promise<string[]>;
  get(number: number, id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null>;
  /** Oldest first, at most `limit` behind the id `after`. */
  list(number: number, limit: number, after?: string): Promise<DeadLetter[]>;
  /** Removes them (all, or the given ones) and counts them out. The cursor is null if none was. */
  end(
    number: number,
    ids: readonly string[] | undefined,
    as: DeadLetterEnd,
  ): Promise<{ ended: number; cursor: Cursor | null }>;
  /** Ends those that were refused before `before` (ms since 1970). Resolves to the cursors that counted them out. */
  expire(before: number): Promise<Cursor[]>;
}
