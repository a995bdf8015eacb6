import type { Counts, DeliveryCounters } from './counts.ts';
import type { DeadLetter, DeadLetterEnd, NewDeadLetter } from './dead-letter.ts';

/** Spans of one request that go to the same integrations: a valid ExportTraceServiceRequest (protobuf). */
export interface Slice {
  bytes: Buffer;
  /** `bytes` is one gzip member of the request (it must inflate): then it is the only slice of its record. */
  gzip?: boolean;
  spans: number;
  /** Numbers of integrations, each once. Empty: the slice goes nowhere and is not stored. */
  routes: readonly number[];
}

/**
 * The next spans of one integration, oldest first. The log does not look at the `bytes` of a batch that is passed back
 * to it, so a caller that waits long may drop them.
 */
export interface Batch {
  number: number;
  /**
   * Number of the integration's spans that were passed before the first one here. So every span of an integration has
   * an ordinal (`start` + its index in the batch) that stays the same after any crash.
   */
  start: number;
  /**
   * Requests that, concatenated, are one valid ExportTraceServiceRequest. `next`: where the log continues behind the
   * part; `key` names the bytes: they never change under it. `gzip`: as in Slice; such a part is the only one.
   */
  parts: readonly { bytes: Buffer; spans: number; at: number; next: number; key: string; gzip?: boolean }[];
  spans: number;
  bytes: number;
}

/**
 * Thrown by `append` if the record could not be made durable. Nothing of it is kept, except that a shared log that did
 * not respond in time may have it nevertheless.
 */
export class TelemetryLogError extends Error {
  readonly kind: 'full' | 'failed' | 'closed';
  constructor(kind: 'full' | 'failed' | 'closed', message: string) {
    super(message);
    this.name = 'TelemetryLogError';
    this.kind = kind;
  }
}

/** Thrown when a shared log is opened that can never be used as it is: another attempt would not help. */
export class TelemetryLogRefusal extends Error {}

/**
 * The telemetry log: what was accepted, durable, until every integration that it goes to has passed it.
 * For each integration: accepted = delivered + rejected + dead_lettered + expired + discarded + queued, at
 * any instant and after any crash.
 */
export interface TelemetryLog {
  /** The name under which the counters of this log are reported: the same on all replicas that share it. */
  readonly id: string;
  /** Number of bytes that it holds, as its retention counts them: without dead letters. */
  readonly bytes: number;
  /**
   * How many servers should have all of it, and how many have; rejects within about a second if no one says. A log in
   * a folder has none.
   */
  copies?(): Promise<{ configured: number; current: number }>;

  /** Resolves when the slices are durable; rejects with TelemetryLogError. The buffers belong to the log until then. */
  append(slices: readonly Slice[]): Promise<void>;

  /** From now on this replica takes part in delivery: it owns integrations that no one else delivers. */
  deliver(): Promise<void>;
  /** Reads how far the other replicas have delivered; without it that is known to about a second. */
  refresh(): Promise<void>;
  /** Opens the cursor of an integration (idempotent). A new one gets what is appended from now on. */
  register(number: number): Promise<void>;
  /** Every integration that ever had a cursor. */
  integrations(): { number: number; removed: boolean }[];
  /** Returns whether this replica delivers the integration. If replicas share the log, one of them does at a time. */
  owns(number: number): boolean;
  /** Deleted: what is queued and dead-lettered becomes discarded, the dead letters go, the final counts stay. */
  remove(number: number): Promise<void>;
  /** Takes back `remove`: gets what is appended from now on. Does nothing for an integration that is not removed. */
  restore(number: number): Promise<void>;

  /**
   * Reads the next spans from the cursor, or from behind the batch `after`, at most about `maxBytes` (at least one
   * record's). Null if nothing more is queued. What cannot be read is passed and counted as discarded once the cursor
   * stands before it.
   */
  read(number: number, maxBytes: number, after?: Batch): Promise<Batch | null>;
  /**
   * Moves the cursor to behind the first `through` spans of the batch, adds the counts and keeps the dead letters, as
   * one atomic and durable change: after any crash a dead letter exists if and only if it is counted. Counts and
   * dead letters are those of everything between the cursor and there: they may be of several batches that were read
   * one behind the other. Resolves to false, and changes nothing, if they are not (expired or removed in the
   * meantime).
   */
  commit(
    batch: Batch,
    through: number,
    counts: Partial<Omit<Counts, 'dead_lettered'>>,
    deadLetters?: readonly NewDeadLetter[],
  ): Promise<boolean>;

  /**
   * Passes all that is queued now, without reading it. `countsOf` gets the ordinal behind it, and resolves to the counts
   * of what lies between the cursor and there. Resolves to false, and changes nothing, if they are not (expired or
   * removed in the meantime), or if nothing is queued.
   */
  jump(
    number: number,
    countsOf: (through: number) => Promise<Partial<Omit<Counts, 'dead_lettered'>>>,
  ): Promise<boolean>;

  /** The ids of all dead letters of an integration, oldest first. */
  deadLetterIds(number: number): Promise<string[]>;
  /** At most `limit` dead letters behind the id `after`, oldest first. */
  listDeadLetters(number: number, limit: number, after?: string): Promise<DeadLetter[]>;
  /** A dead letter and its span; null if it is gone or damaged. */
  getDeadLetter(number: number, id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null>;
  /**
   * Removes dead letters (all, or the given ones) and counts them as `as`, as one change. Resolves to how many there
   * were.
   */
  endDeadLetters(number: number, ids: readonly string[] | undefined, as: DeadLetterEnd): Promise<number>;

  counters(number: number): DeliveryCounters;
  /** Resolves to the time at which the oldest queued span was accepted (ms since 1970); null if nothing is queued. */
  oldest(number: number): Promise<number | null>;
  /**
   * Retention: spans that are older than `before` (ms since 1970), or beyond `maxBytes` on disk, oldest first, and dead
   * letters that were refused before `before`; counted as expired, then removed.
   */
  expire(before: number, maxBytes: number): Promise<void>;
  /** Calls `appended` with the integrations of every durable append. Returns a function that removes the listener. */
  onAppend(appended: (routes: ReadonlySet<number>) => void): () => void;
  /** Waits for what is in flight; later appends reject. */
  close(): Promise<void>;
}
