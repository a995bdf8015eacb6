import { crc32, gunzipSync } from 'node:zlib';
import { takeSpans } from '../../otlp/wire.ts';
import type { Batch } from '../log.ts';
import type { RecordHead } from '../record.ts';
import type { RecordReader } from './reader.ts';

/** `at`: where to begin next time. */
export type Gathered =
  | { batch: Batch; at: number; time: number }
  /** The next spans of the integration cannot be read: so many are gone. */
  | { lost: number; at: number };

/**
 * Reads the spans of integration `number` behind its first `start`, from offset `from` on, in order and without
 * a hole: the running totals in each record say which of its spans are whose turn. `accepted`: how many there
 * are in all; more than `start`.
 */
export const gather = async (
  reader: RecordReader,
  number: number,
  from: number,
  start: number,
  accepted: number,
  maxBytes: number,
): Promise<Gathered> => {
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
    // One that is gzip is a batch of its own, to be sent as it came.
    const gzip = slices.some((slice) => slice.gzip);
    if (first !== null && (gzip || bytes + length > maxBytes)) break;
    at = record.next;
    // A damaged body is passed; the next record then shows the hole.
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

/** Whether the bodies are what was written. The reader keeps them at hand. */
const intact = async (reader: RecordReader, record: RecordHead): Promise<boolean> => {
  const bodies = await reader.bytes(record.bodyAt, record.next - record.bodyAt);
  return bodies !== null && crc32(bodies) === record.bodyCrc;
};
