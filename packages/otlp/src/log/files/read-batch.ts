import { crc32, gunzipSync } from 'node:zlib';
import { takeSpans } from '../../wire/wire.ts';
import type { Batch } from '../log.ts';
import type { RecordHead } from '../record.ts';
import type { RecordReader } from './reader.ts';

/** `at`: the offset to begin at next time. */
export type ReadResult =
  | { batch: Batch; at: number; time: number }
  /** The next `lost` spans of the integration cannot be read: they are lost. */
  | { lost: number; at: number };

/**
 * Reads the spans of integration `number` behind its first `start`, from offset `from` on, in order and without a hole:
 * the running totals of each record say which ordinals its spans have. `accepted`: how many spans there are in all;
 * more than `start`.
 */
export const readBatch = async (
  reader: RecordReader,
  number: number,
  from: number,
  start: number,
  accepted: number,
  maxBytes: number,
): Promise<ReadResult> => {
  const parts: Batch['parts'][number][] = [];
  let bytes = 0;
  let spans = 0;
  let at = from;
  let first: RecordHead | null = null;
  while (first === null || bytes < maxBytes) {
    const record = await reader.next(at);
    if (record === null) {
      if (first === null) return { lost: accepted - start, at };
      break;
    }
    const after = record.totals.get(number)?.spans;
    if (after === undefined || after <= start + spans) {
      at = record.next;
      continue;
    }
    const slices = record.slices.filter(({ routes }) => routes.includes(number));
    const before = after - slices.reduce((sum, slice) => sum + slice.spans, 0);
    const hole = before - (start + spans);
    if (hole > 0) {
      if (first === null) return { lost: hole, at };
      break;
    }
    const length = slices.reduce((sum, slice) => sum + slice.length, 0);
    // A gzip body is a batch of its own, to be sent as it arrived.
    const gzip = slices.some((slice) => slice.gzip);
    if (first !== null && (gzip || bytes + length > maxBytes)) break;
    at = record.next;
    // A damaged body is skipped; the totals of the next record then show the hole.
    if (!(await intact(reader, record))) continue;
    first ??= record;
    let skip = -hole;
    for (const [i, slice] of slices.entries()) {
      const done = Math.min(slice.spans, skip);
      skip -= done;
      if (done === slice.spans) continue;
      const body = (await reader.bytes(slice.at, slice.length))!;
      parts.push({
        bytes: done === 0 ? body : takeSpans(slice.gzip ? gunzipSync(body) : body, done, slice.spans),
        gzip: slice.gzip && done === 0,
        spans: slice.spans - done,
        at: record.at,
        key: done === 0 ? String(slice.at) : `${slice.at}/${done}`,
        next: i === slices.length - 1 ? record.next : record.at,
      });
      spans += slice.spans - done;
      bytes += slice.length;
    }
    if (gzip) break;
  }
  return { batch: { number, start, parts, spans, bytes }, at: first!.at, time: first!.time };
};

/** Returns whether the bodies are what was written. They stay in the reader's buffer. */
const intact = async (reader: RecordReader, record: RecordHead): Promise<boolean> => {
  const bodies = await reader.bytes(record.bodyAt, record.next - record.bodyAt);
  return bodies !== null && crc32(bodies) === record.bodyCrc;
};
