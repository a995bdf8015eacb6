import { gunzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { takeSpans } from '../../wire/wire.ts';
import { passed } from '../counts.ts';
import type { Batch, Slice } from '../log.ts';
import type { StreamAggregate } from './aggregate.ts';
import { decodeBody, decodeHead, type Head } from './message.ts';
import type { Cursor } from './store.ts';
import type { LogStream } from './stream.ts';

/**
 * A position between two spans of an integration: behind every record up to `seq`, and `recordOffset` spans of its next
 * one.
 */
export interface StreamPosition {
  seq: number;
  recordOffset: number;
  /** The integration's spans before this position: all that were accepted, whatever became of them. */
  ordinal: number;
}

/**
 * Returns the position to read on from: the cursor, or a later checkpoint if nothing came for the integration in
 * between.
 */
export const positionOf = (cursor: Cursor, aggregate: StreamAggregate): StreamPosition => {
  const ordinal = passed(cursor);
  const checkpoint = aggregate.checkpointBefore(cursor.number, ordinal - cursor.recordOffset);
  return { seq: Math.max(cursor.seq, checkpoint?.seq ?? 0), recordOffset: cursor.recordOffset, ordinal };
};

type Part = Batch['parts'][number];
/** A part knows its record: its sequence number, and the ordinal of its first span for the integration. */
type StreamPart = Part & { record: { seq: number; start: number; spans: number } };

/** The position behind the first `through` spans of the batch. */
export const positionIn = (batch: Batch, through: number): StreamPosition => {
  const ordinal = batch.start + through;
  const parts = batch.parts as readonly StreamPart[];
  const { record } = parts.findLast((part) => part.record.start <= ordinal)!;
  return ordinal < record.start + record.spans
    ? { seq: record.seq - 1, recordOffset: ordinal - record.start, ordinal }
    : { seq: record.seq, recordOffset: 0, ordinal };
};

/** Bodies cached for the next integration that reads them: those of one batch of each, roughly. */
const cacheBytes = 16 * 1024 * 1024;
/** Records read for one batch at most: small ones can be many. */
const maxRecords = 256;

export type ReadResult =
  | { batch: Batch; time: number }
  /** The next `lost` spans of the integration cannot be read: they are gone. `position`: behind them. */
  | { lost: number; position: StreamPosition };

/** Reads records of the stream: heads from memory if the aggregate has them, bodies by their sequence numbers. */
export class StreamReader {
  readonly #stream: LogStream;
  readonly #aggregate: StreamAggregate;
  /** By sequence number. A head says only what each integration has of a body: its size is known when it is read. */
  readonly #cached = new LRUCache<number, readonly Slice[]>({
    maxSize: cacheBytes,
    // A record that is larger than the cache is cached alone.
    sizeCalculation: (slices) =>
      Math.min(
        cacheBytes,
        slices.reduce((sum, { bytes }) => sum + bytes.length, 1),
      ),
  });
  readonly #reading = new Map<number, Promise<readonly Slice[] | null>>();

  constructor(stream: LogStream, aggregate: StreamAggregate) {
    this.#stream = stream;
    this.#aggregate = aggregate;
  }

  /** Reads the spans of an integration behind `position`, in order and without a hole. There must be some. */
  async readBatch(
    number: number,
    position: StreamPosition,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<ReadResult> {
    const end = { seq: this.#aggregate.seq, accepted: this.#aggregate.accepted(number).spans };
    const heads = await this.#heads(number, position.seq, maxBytes, signal);
    if (heads.length === 0) {
      return {
        lost: end.accepted - position.ordinal,
        position: { seq: end.seq, recordOffset: 0, ordinal: end.accepted },
      };
    }
    const records = await Promise.all(heads.map((head) => this.#slices(head)));
    const parts: StreamPart[] = [];
    let bytes = 0;
    let ordinal = position.ordinal;
    for (const [i, head] of heads.entries()) {
      const skip = i === 0 ? position.recordOffset : 0;
      const { spans, bytes: own } = head.accepted.get(number)!;
      const slices = records[i];
      if (!slices) {
        if (i > 0) break;
        const after = ordinal + spans - skip;
        return { lost: spans - skip, position: { seq: head.seq, recordOffset: 0, ordinal: after } };
      }
      const record = { seq: head.seq, start: ordinal - skip, spans };
      for (const part of partsOf(slices, number, record, skip)) {
        // A gzip body is a batch of its own, to be sent as it arrived.
        if (parts.length > 0 && (part.gzip || parts[0]!.gzip)) break;
        parts.push(part);
        ordinal += part.spans;
      }
      // A record that is taken in part counts whole: reading again with as many bytes must give no fewer spans.
      if (ordinal > record.start + skip) bytes += own;
      if (ordinal < record.start + spans) break;
    }
    const { ordinal: start } = position;
    return { batch: { number, start, parts, spans: ordinal - start, bytes }, time: heads[0]!.time };
  }

  /** The next heads for an integration, as many as make about `maxBytes`. */
  async #heads(number: number, after: number, maxBytes: number, signal: AbortSignal): Promise<Head[]> {
    const found: Head[] = [];
    let bytes = 0;
    /** Returns false when that is enough. */
    const take = (head: Head): boolean => {
      const own = head.accepted.get(number);
      if (own === undefined) return true;
      if (found.length > 0 && bytes + own.bytes > maxBytes) return false;
      found.push(head);
      bytes += own.bytes;
      return found.length < maxRecords && bytes < maxBytes;
    };
    let at = after;
    if (at < this.#aggregate.headsFrom) {
      const until = this.#aggregate.headsFrom;
      for await (const message of this.#stream.headers(at + 1, signal)) {
        if (message.seq > until) break;
        at = message.seq;
        const head = message.kind === 'head' ? decodeHead(message.header, message.seq, message.time) : null;
        if (head !== null && !take(head)) return found;
      }
      if (signal.aborted) throw signal.reason;
      // The aggregate has dropped heads in the meantime: the next batch begins there.
      if (this.#aggregate.headsFrom > until && found.length > 0) return found;
      at = until;
    }
    const { heads } = this.#aggregate;
    for (let i = firstBehind(heads, at); i < heads.length; i++) if (!take(heads[i]!)) break;
    return found;
  }

  /** The slices of a record; null if it cannot be read any more. What was read is cached for the others. */
  async #slices(head: Head): Promise<readonly Slice[] | null> {
    const cached = this.#cached.get(head.seq);
    if (cached !== undefined) return cached;
    const underWay = this.#reading.get(head.seq);
    if (underWay !== undefined) return underWay;
    const reading = this.#read(head).finally(() => this.#reading.delete(head.seq));
    this.#reading.set(head.seq, reading);
    const slices = await reading;
    if (slices !== null) this.#cached.set(head.seq, slices);
    return slices;
  }

  async #read({ seq, chunks, crc }: Head): Promise<readonly Slice[] | null> {
    const messages = chunks.length === 0 ? [seq] : chunks;
    for (const read of [this.#stream.payload, this.#stream.payloadFromLeader]) {
      const bodies = await Promise.all(messages.map((one) => read.call(this.#stream, one)));
      if (bodies.includes(null)) return null;
      const slices = decodeBody(bodies.length === 1 ? bodies[0]! : Buffer.concat(bodies as Buffer[]), crc);
      if (slices !== null) return slices;
    }
    return null;
  }
}

/** Returns the parts of a record for an integration, behind its first `skip` spans. */
const partsOf = (
  slices: readonly Slice[],
  number: number,
  record: StreamPart['record'],
  skip: number,
): StreamPart[] => {
  const parts: StreamPart[] = [];
  let left = skip;
  for (const [i, { bytes, spans, gzip, routes }] of slices.entries()) {
    if (!routes.includes(number)) continue;
    const done = Math.min(spans, left);
    left -= done;
    if (done === spans) continue;
    parts.push({
      bytes: done === 0 ? bytes : takeSpans(gzip ? gunzipSync(bytes) : bytes, done, spans),
      gzip: gzip === true && done === 0,
      spans: spans - done,
      at: record.seq,
      next: record.seq + 1,
      key: `${record.seq}/${i}/${done}`,
      record,
    });
  }
  return parts;
};

/** The index of the first head behind `seq`. */
const firstBehind = (heads: readonly Head[], seq: number): number => {
  let low = 0;
  let high = heads.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (heads[middle]!.seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
};
