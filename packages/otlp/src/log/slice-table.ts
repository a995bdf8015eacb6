import type { Slice } from './log.ts';

/** A slice as the table of its record lists it. `at`: where its body begins. */
export interface SliceEntry {
  at: number;
  length: number;
  spans: number;
  routes: number[];
  gzip: boolean;
}

/** In the number of routes: the body is gzip. */
const gzipBit = 0x80000000;

export const sliceTableLength = (slices: readonly Slice[]): number => {
  let length = 0;
  for (const { routes } of slices) length += 12 + routes.length * 4;
  return length;
};

/**
 * Writes the slices of a record from offset `from` on: of each u32 length, u32 spans, u32 routes (its highest bit: the
 * body is gzip), then the routes' u32 numbers. Returns the offset behind them.
 */
export const writeSlices = (table: Buffer, from: number, slices: readonly Slice[]): number => {
  let p = from;
  for (const { bytes, spans, routes, gzip } of slices) {
    table.writeUInt32LE(bytes.length, p);
    table.writeUInt32LE(spans, p + 4);
    table.writeUInt32LE(routes.length + (gzip ? gzipBit : 0), p + 8);
    p += 12;
    for (const number of routes) {
      table.writeUInt32LE(number, p);
      p += 4;
    }
  }
  return p;
};

/**
 * Reads `count` slices from offset `from` on, the first of which has its body at `bodyAt`. `end`: the offset behind
 * them.
 */
export const readSlices = (
  table: Buffer,
  from: number,
  count: number,
  bodyAt: number,
): { slices: SliceEntry[]; end: number } => {
  const slices: SliceEntry[] = [];
  let p = from;
  let at = bodyAt;
  for (let left = count; left > 0; left--) {
    const length = table.readUInt32LE(p);
    const spans = table.readUInt32LE(p + 4);
    const counted = table.readUInt32LE(p + 8);
    const gzip = counted >= gzipBit;
    const routes: number[] = [];
    p += 12;
    for (let more = gzip ? counted - gzipBit : counted; more > 0; more--, p += 4) {
      routes.push(table.readUInt32LE(p));
    }
    slices.push({ at, length, spans, routes, gzip });
    at += length;
  }
  return { slices, end: p };
};
