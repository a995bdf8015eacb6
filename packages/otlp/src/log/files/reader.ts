import { type FileHandle, open } from 'node:fs/promises';
import {
  type AcceptedTotals,
  decodeHead,
  headLength,
  type RecordHead,
  recordMagicBytes,
  recordStart,
} from '../record.ts';

/** A segment: the part of the log from offset `base` to the base of the next one, in a file of its own. */
export interface Segment {
  base: number;
  path: string;
  /** Length of its head; 0 if that is damaged: then the first record is searched for from the beginning. */
  headLength: number;
  /** The time of the last record before it: none of those is younger. */
  created: number;
  /** Accepted before it; null if its head is damaged. */
  totals: AcceptedTotals | null;
}

/** The segments to read. It is checked before each read, because segments are added and removed. */
export interface Readable {
  readonly segments: readonly Segment[];
  /** Everything before this offset is durable. */
  readonly end: number;
}

const chunkLength = 256 * 1024;
const headChunkLength = 4 * 1024;

/** Reads records in order, across segments and past damage. Holds at most one open file; for one caller at a time. */
export class RecordReader {
  readonly #log: Readable;
  #file: FileHandle | null = null;
  #base = -1;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkAt = 0;
  /** After a large record the next one is probably large too, and nothing but its header would be used of a chunk. */
  #afterLarge = false;

  constructor(log: Readable) {
    this.#log = log;
  }

  /** The first readable record at or behind offset `from`; null at the end. */
  async next(from: number): Promise<RecordHead | null> {
    let at = from;
    for (;;) {
      const segments = this.#log.segments;
      const end = this.#log.end;
      const index = segments.findLastIndex(({ base }) => base <= at);
      const segment = segments[Math.max(0, index)];
      if (segment === undefined || at >= end) return null;
      const segmentEnd = segments[Math.max(0, index) + 1]?.base ?? end;
      at = Math.max(at, segment.base + segment.headLength);
      if (at >= segmentEnd) {
        at = segmentEnd;
        continue;
      }
      const start = await this.#bytes(segment, at, recordStart, segmentEnd);
      const length = start === null ? 0 : headLength(start, at);
      const head = length === 0 ? null : await this.#bytes(segment, at, length, segmentEnd);
      const record = head === null ? null : decodeHead(head, at);
      if (record !== null && record.next <= segmentEnd) return record;
      at = await this.#search(segment, at + 1, segmentEnd);
    }
  }

  /** The bytes at an offset of the log; null if they are not there (a truncated or missing file). */
  bytes(at: number, length: number): Promise<Buffer | null> {
    const segments = this.#log.segments;
    const index = segments.findLastIndex(({ base }) => base <= at);
    if (index < 0) return Promise.resolve(null);
    return this.#bytes(segments[index]!, at, length, segments[index + 1]?.base ?? this.#log.end);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#base = -1;
    await file?.close();
  }

  /** The offset where the next record may begin: at its magic, or at the segment's end. */
  async #search(segment: Segment, from: number, segmentEnd: number): Promise<number> {
    let at = from;
    while (at < segmentEnd) {
      const bytes = await this.#bytes(segment, at, Math.min(chunkLength, segmentEnd - at), segmentEnd);
      if (bytes === null) return segmentEnd;
      const found = bytes.indexOf(recordMagicBytes);
      if (found >= 0) return at + found;
      if (at + bytes.length >= segmentEnd) return segmentEnd;
      at += bytes.length - recordMagicBytes.length + 1;
    }
    return segmentEnd;
  }

  async #bytes(segment: Segment, at: number, length: number, segmentEnd: number): Promise<Buffer | null> {
    if (at + length > segmentEnd) return null;
    if (this.#base !== segment.base) {
      await this.close();
      try {
        this.#file = await open(segment.path, 'r');
      } catch (error) {
        // Unlinked in the meantime: all that was in it has been counted.
        if ((error as { code?: string }).code === 'ENOENT') return null;
        throw error;
      }
      this.#base = segment.base;
      this.#chunk = Buffer.alloc(0);
    }
    const offset = at - this.#chunkAt;
    if (offset >= 0 && offset + length <= this.#chunk.length) {
      return this.#chunk.subarray(offset, offset + length);
    }
    // A new buffer each time, because what is read from it is returned without a copy.
    const want = Math.min(
      Math.max(length, this.#afterLarge ? headChunkLength : chunkLength),
      segmentEnd - at,
    );
    this.#afterLarge = length >= chunkLength;
    const chunk = Buffer.allocUnsafeSlow(want);
    let got = 0;
    while (got < want) {
      const { bytesRead } = await this.#file!.read(chunk, got, want - got, at + got - segment.base);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    this.#chunk = chunk.subarray(0, got);
    this.#chunkAt = at;
    return got < length ? null : this.#chunk.subarray(0, length);
  }
}
