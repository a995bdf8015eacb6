import { crc32 } from 'node:zlib';
import type { Slice } from './log.ts';
import { readSlices, type SliceEntry, sliceTableLength, writeSlices } from './slice-table.ts';

/** Running totals that have ever been accepted for an integration. Every record carries them on. */
export interface Accepted {
  spans: number;
  bytes: number;
}
export type AcceptedTotals = ReadonlyMap<number, Accepted>;

export const nothingAccepted: Accepted = { spans: 0, bytes: 0 };

/**
 * A record on disk: a header with its own checksum, so that counts survive a damaged body, then the bodies
 * of its slices. All little-endian:
 *
 *     u32 magic, u32 header length, u32 bodies' length, f64 own offset in the log, f64 time,
 *     u32 crc of the bodies, u16 slices, u16 integrations,
 *     slices: see slice-table.ts
 *     integrations: u32 number, f64 spans, f64 bytes accepted for it up to and with this record
 *     u32 crc of all before
 *
 * The running totals make the counters self-checking: if a record is unreadable, header and all, the next one for the
 * integration says how many spans are missing.
 */
export interface RecordHead {
  at: number;
  /** Offset of the bodies; `next` is that of the next record. */
  bodyAt: number;
  next: number;
  time: number;
  bodyCrc: number;
  slices: SliceEntry[];
  totals: Map<number, Accepted>;
}

const recordMagic = 0x54525041;
const segmentMagic = 0x47535041;
/** magic, header length, bodies' length, own offset: enough to know how long the header is. */
export const recordStart = 20;
const fixedLength = recordStart + 8 + 4 + 4;
/** No header is longer; a length beyond it is damage. */
const maxHeader = 4 * 1024 * 1024;
export const recordMagicBytes = Buffer.from([0x41, 0x50, 0x52, 0x54]);

/** The totals after `slices`, for the integrations that they go to. */
export const totalsAfter = (slices: readonly Slice[], before: AcceptedTotals): Map<number, Accepted> => {
  const after = new Map<number, Accepted>();
  for (const { bytes, spans, routes } of slices) {
    for (const number of routes) {
      const total = after.get(number) ?? before.get(number) ?? nothingAccepted;
      after.set(number, { spans: total.spans + spans, bytes: total.bytes + bytes.length });
    }
  }
  return after;
};

/** The header of a record at offset `at`. */
export const encodeHead = (
  slices: readonly Slice[],
  totals: ReadonlyMap<number, Accepted>,
  at: number,
  time: number,
): Buffer => {
  const length = fixedLength + sliceTableLength(slices) + totals.size * 20 + 4;
  let bodies = 0;
  let crc = 0;
  for (const { bytes } of slices) {
    bodies += bytes.length;
    crc = crc32(bytes, crc);
  }
  const head = Buffer.allocUnsafe(length);
  head.writeUInt32LE(recordMagic, 0);
  head.writeUInt32LE(length, 4);
  head.writeUInt32LE(bodies, 8);
  head.writeDoubleLE(at, 12);
  head.writeDoubleLE(time, 20);
  head.writeUInt32LE(crc, 28);
  head.writeUInt16LE(slices.length, 32);
  head.writeUInt16LE(totals.size, 34);
  const p = writeSlices(head, fixedLength, slices);
  writeTotals(head, p, totals);
  head.writeUInt32LE(crc32(head.subarray(0, length - 4)), length - 4);
  return head;
};

/** The length of the header that begins with these bytes; 0 if they are not the start of a record at `at`. */
export const headLength = (start: Buffer, at: number): number => {
  if (start.length < recordStart || start.readUInt32LE(0) !== recordMagic) return 0;
  const length = start.readUInt32LE(4);
  // A record knows its own offset: an old or a forged one inside a body is no record.
  return length >= fixedLength + 4 && length <= maxHeader && start.readDoubleLE(12) === at ? length : 0;
};

/** The header in `head` (its exact length), or null if its checksum does not match. */
export const decodeHead = (head: Buffer, at: number): RecordHead | null => {
  const end = head.length - 4;
  if (crc32(head.subarray(0, end)) !== head.readUInt32LE(end)) return null;
  const bodyAt = at + head.length;
  const { slices, end: totalsAt } = readSlices(head, fixedLength, head.readUInt16LE(32), bodyAt);
  return {
    at,
    bodyAt,
    next: bodyAt + head.readUInt32LE(8),
    time: head.readDoubleLE(20),
    bodyCrc: head.readUInt32LE(28),
    slices,
    totals: readTotals(head, totalsAt, head.readUInt16LE(34)),
  };
};

/** Head of a segment: all totals before it, so that nothing else must be read to know them. */
export interface SegmentHead {
  length: number;
  created: number;
  totals: AcceptedTotals;
}

/** u32 magic, u32 length, f64 base offset, f64 time, u32 integrations, their totals, u32 crc. */
export const encodeSegmentHead = (base: number, created: number, totals: AcceptedTotals): Buffer => {
  const length = 28 + totals.size * 20 + 4;
  const head = Buffer.allocUnsafe(length);
  head.writeUInt32LE(segmentMagic, 0);
  head.writeUInt32LE(length, 4);
  head.writeDoubleLE(base, 8);
  head.writeDoubleLE(created, 16);
  head.writeUInt32LE(totals.size, 24);
  writeTotals(head, 28, totals);
  head.writeUInt32LE(crc32(head.subarray(0, length - 4)), length - 4);
  return head;
};

/** Reads a segment's head from the beginning of its file; null if it is damaged or cut off. */
export const decodeSegmentHead = (start: Buffer, base: number): SegmentHead | null => {
  if (start.length < 32 || start.readUInt32LE(0) !== segmentMagic) return null;
  const length = start.readUInt32LE(4);
  if (length > start.length || length < 32 || start.readDoubleLE(8) !== base) return null;
  if (crc32(start.subarray(0, length - 4)) !== start.readUInt32LE(length - 4)) return null;
  return {
    length,
    created: start.readDoubleLE(16),
    totals: readTotals(start, 28, start.readUInt32LE(24)),
  };
};

const writeTotals = (buffer: Buffer, at: number, totals: AcceptedTotals): void => {
  let p = at;
  for (const [number, { spans, bytes }] of totals) {
    buffer.writeUInt32LE(number, p);
    buffer.writeDoubleLE(spans, p + 4);
    buffer.writeDoubleLE(bytes, p + 12);
    p += 20;
  }
};

const readTotals = (buffer: Buffer, at: number, count: number): Map<number, Accepted> => {
  const totals = new Map<number, Accepted>();
  for (let i = 0, p = at; i < count; i++, p += 20) {
    totals.set(buffer.readUInt32LE(p), {
      spans: buffer.readDoubleLE(p + 4),
      bytes: buffer.readDoubleLE(p + 12),
    });
  }
  return totals;
};
