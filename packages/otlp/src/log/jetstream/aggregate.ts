import { type Accepted, nothingAccepted } from '../record.ts';
import { decodeHead, type Head, headerNames } from './message.ts';
import type { StoredHeaders } from './stream.ts';

/**
 * Totals that had been accepted up to and with the message `seq`. Kept in the database: see
 * migrations/0060_telemetry_streams.sql.
 */
export interface Checkpoint {
  seq: number;
  /** Time at which that message was stored, ms since 1970. */
  time: number;
  totals: ReadonlyMap<number, Accepted>;
  /** Bytes of all messages up to there, ever. */
  bytes: number;
  /** The lowest message that a record since the checkpoint before refers to; infinite if none refers to any. */
  needs: number;
  /** Bodies whose head had not arrived yet: id, first message, its time. */
  uploads: [id: string, first: number, time: number][];
}

export interface AggregateOptions {
  /** A checkpoint after this many bytes (default 16 MiB) or ms (default 5 min): what retention can drop at a time. */
  checkpointBytes?: number;
  checkpointMs?: number;
}

/**
 * Heads kept in memory, about 300 bytes each; those before them are read again for an integration that is so far
 * behind.
 */
const maxHeads = 20_000;
const minHeads = 1_000;
/**
 * A body whose head has not come this long after its first part belongs to a writer that gave up: writers give up
 * after `uploadWithinMs`. By the server's time.
 */
const uploadExpiresMs = 120_000;
/** Head and chunks of one record are stored within this time, or its append fails. */
export const uploadWithinMs = 20_000;

/** Bytes of a message besides its payload: subject and id, roughly. */
const messageOverhead = 100;

/**
 * Totals of accepted spans, summed up over the stream: every replica reads the headers of all messages in order and
 * comes to the same totals. Pure: knows neither network nor database.
 */
export class StreamAggregate {
  /** Everything up to this message is in the totals. */
  seq = 0;
  totals = new Map<number, Accepted>();
  /** Oldest first; the first says what was accepted before all that is left in the stream. */
  checkpoints: Checkpoint[] = [];
  /** The `seq` up to which all checkpoints are saved. The code that saves more sets it. */
  savedCheckpoint = 0;
  /** The heads behind `headsFrom`, in order. */
  heads: Head[] = [];
  headsFrom = 0;
  readonly #options: Required<AggregateOptions>;
  #bytes = 0;
  #time = 0;
  /** The time of the first message behind the newest checkpoint; 0 if there is none. */
  #since = 0;
  #needs = Number.POSITIVE_INFINITY;
  #uploads = new Map<string, { first: number; time: number }>();

  constructor({ checkpointBytes = 16 * 1024 * 1024, checkpointMs = 300_000 }: AggregateOptions = {}) {
    this.#options = { checkpointBytes, checkpointMs };
  }

  /** Continues from the newest of these checkpoints, which are saved. */
  restore(checkpoints: readonly Checkpoint[]): void {
    this.checkpoints = [...checkpoints];
    const newest = checkpoints.at(-1);
    this.heads = [];
    this.seq = newest?.seq ?? 0;
    this.savedCheckpoint = this.seq;
    this.headsFrom = this.seq;
    this.totals = new Map(newest?.totals);
    this.#bytes = newest?.bytes ?? 0;
    this.#time = newest?.time ?? 0;
    this.#since = 0;
    this.#needs = Number.POSITIVE_INFINITY;
    this.#uploads = new Map(newest?.uploads.map(([id, first, time]) => [id, { first, time }]));
  }

  /** Adds the next message. Returns its head if it is one. */
  add(message: StoredHeaders): Head | null {
    const { checkpointBytes, checkpointMs } = this.#options;
    const bytes = this.#bytes - (this.checkpoints.at(-1)?.bytes ?? 0);
    if (bytes >= checkpointBytes || (this.#since > 0 && message.time - this.#since >= checkpointMs))
      this.checkpoint();
    this.#since ||= message.time;
    this.seq = message.seq;
    this.#time = Math.max(this.#time, message.time);
    this.#bytes += message.size + messageOverhead;
    if (message.kind === 'chunk') {
      const id = message.header(headerNames.upload);
      if (id !== '' && !this.#uploads.has(id))
        this.#uploads.set(id, { first: message.seq, time: message.time });
      return null;
    }
    const head = decodeHead(message.header, message.seq, this.#time);
    if (head === null) return null;
    if (head.upload !== null) this.#uploads.delete(head.upload);
    this.#needs = Math.min(this.#needs, ...head.chunks);
    for (const [number, { spans, bytes }] of head.accepted) {
      const total = this.totals.get(number) ?? nothingAccepted;
      this.totals.set(number, { spans: total.spans + spans, bytes: total.bytes + bytes });
    }
    this.heads.push(head);
    // A quarter at a time: taking one off the beginning of a long list each time would be slow.
    if (this.heads.length > maxHeads) this.#dropHeads(maxHeads / 4);
    return head;
  }

  /** Makes a checkpoint here, unless there is one. */
  checkpoint(): void {
    if (this.seq === this.checkpoints.at(-1)?.seq) return;
    this.#expireUploads();
    this.checkpoints.push({
      seq: this.seq,
      time: this.#time,
      totals: new Map(this.totals),
      bytes: this.#bytes,
      needs: this.#needs,
      uploads: [...this.#uploads].map(([id, { first, time }]) => [id, first, time]),
    });
    this.#since = 0;
    this.#needs = Number.POSITIVE_INFINITY;
  }

  accepted(number: number): Accepted {
    return this.totals.get(number) ?? nothingAccepted;
  }

  /** Time at which the last message was stored. */
  get lastTime(): number {
    return this.#time;
  }

  /** Bytes of all messages behind the first checkpoint: what has not been purged, or a little more. */
  get size(): number {
    return this.#bytes - (this.checkpoints[0]?.bytes ?? 0);
  }

  /** Bytes of all messages behind this checkpoint. */
  bytesBehind(checkpoint: Checkpoint): number {
    return this.#bytes - checkpoint.bytes;
  }

  /**
   * The newest checkpoint at which no more than `spans` had been accepted for the integration: its next span is behind
   * it.
   */
  checkpointBefore(number: number, spans: number): Checkpoint | undefined {
    return this.checkpoints.findLast(({ totals }) => (totals.get(number)?.spans ?? 0) <= spans);
  }

  /** Returns the spans of the integration that the newest checkpoint not behind `seq` had accepted. */
  acceptedBy(number: number, seq: number): number {
    if (seq >= this.seq) return this.accepted(number).spans;
    return this.checkpoints.findLast((one) => one.seq <= seq)?.totals.get(number)?.spans ?? 0;
  }

  /** The first message that is still needed if every integration has passed everything up to `passed`. */
  firstNeeded(passed: number): number {
    this.#expireUploads();
    let first = passed + 1;
    for (const { seq, needs } of this.checkpoints) if (seq > passed) first = Math.min(first, needs);
    if (passed < this.seq) first = Math.min(first, this.#needs);
    for (const upload of this.#uploads.values()) first = Math.min(first, upload.first);
    return first;
  }

  /** Drops what is only about messages before `seq`. */
  trim(seq: number): void {
    const keep = this.checkpoints.findLastIndex((one) => one.seq < seq);
    if (keep > 0) this.checkpoints.splice(0, keep);
    const index = this.heads.findIndex((head) => head.seq >= seq);
    // An idle integration is read from the newest checkpoint on: the last heads spare it the stream.
    const most = this.heads.length - minHeads;
    if (most > 0) this.#dropHeads(Math.min(index < 0 ? most : index, most));
  }

  #dropHeads(count: number): void {
    const last = this.heads.splice(0, count).at(-1);
    if (last) this.headsFrom = last.seq;
  }

  #expireUploads(): void {
    for (const [id, { time }] of this.#uploads) {
      if (this.#time - time > uploadExpiresMs) this.#uploads.delete(id);
    }
  }
}

/** As it is stored in the database. */
export const checkpointToJson = ({ totals, seq: _, needs, ...rest }: Checkpoint): unknown => ({
  ...rest,
  needs: Number.isFinite(needs) ? needs : null,
  totals: [...totals].map(([number, { spans, bytes }]) => [number, spans, bytes]),
});

export const checkpointFromJson = (seq: number, state: unknown): Checkpoint => {
  const { totals, needs, ...rest } = state as Omit<Checkpoint, 'totals' | 'needs' | 'seq'> & {
    needs: number | null;
    totals: [number, number, number][];
  };
  return {
    ...rest,
    seq,
    needs: needs ?? Number.POSITIVE_INFINITY,
    totals: new Map(totals.map(([number, spans, bytes]) => [number, { spans, bytes }])),
  };
};
