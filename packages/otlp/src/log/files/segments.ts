import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Accepted, type AcceptedTotals, decodeSegmentHead, encodeSegmentHead } from '../record.ts';
import { RecordReader, type Segment } from './reader.ts';

/** The file of the segment that begins at `base`: names sort as the offsets do. */
const segmentPath = (directory: string, base: number): string =>
  join(directory, `${String(base).padStart(16, '0')}.segment`);

/**
 * Flags with which files of the log are opened to write: each write is durable when it returns, as if followed by
 * fdatasync, for one trip to the thread pool instead of two. (macOS keeps it from a crash of the system, not from a
 * power cut.)
 */
export const synced = constants.O_RDWR | constants.O_DSYNC;

/** Makes the file names in a directory durable. */
export const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Creates a segment, durable before it is used. Leaves nothing behind if it fails. */
export const createSegment = async (
  directory: string,
  base: number,
  created: number,
  totals: AcceptedTotals,
  write: (file: FileHandle, bytes: Buffer[], at: number) => Promise<void>,
): Promise<{ segment: Segment; file: FileHandle }> => {
  const path = segmentPath(directory, base);
  const head = encodeSegmentHead(base, created, totals);
  const file = await open(path, synced | constants.O_CREAT | constants.O_TRUNC);
  try {
    await write(file, [head], 0);
    await syncDirectory(directory);
    return { file, segment: { base, path, headLength: head.length, created, totals: new Map(totals) } };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
};

const readHead = async (
  path: string,
  base: number,
): Promise<Omit<Segment, 'base' | 'path'> & { size: number }> => {
  const file = await open(path, 'r');
  try {
    const { size, mtimeMs } = await file.stat();
    // 20 bytes for each integration that ever was: 64 KiB hold 3,000; read on if there are more.
    for (let length = 65_536; ; length *= 8) {
      const start = Buffer.alloc(Math.min(length, size));
      await file.read(start, 0, start.length, 0);
      const head = decodeSegmentHead(start, base);
      if (head !== null) return { headLength: head.length, created: head.created, totals: head.totals, size };
      if (length >= size || length > 4_000_000)
        return { headLength: 0, created: mtimeMs, totals: null, size };
    }
  } finally {
    await file.close();
  }
};

/** Findings of a start: the segments, the offset where the readable log ends, and the totals accepted up to there. */
export interface Recovered {
  segments: Segment[];
  end: number;
  totals: Map<number, Accepted>;
  lastTime: number;
}

/**
 * Reads the heads of all segments and the headers of the last one's records (of more segments only if a head is
 * damaged). What follows the last readable record was torn by a crash and never acknowledged.
 */
export const recover = async (directory: string): Promise<Recovered> => {
  const segments: Segment[] = [];
  let size = 0;
  for (const name of (await readdir(directory)).sort()) {
    const match = /^(\d{16})\.segment$/.exec(name);
    if (!match) continue;
    const base = Number(match[1]);
    const path = join(directory, name);
    const head = await readHead(path, base);
    size = head.size;
    segments.push({
      base,
      path,
      headLength: head.headLength,
      created: head.created,
      totals: head.totals,
    });
  }
  const last = segments.at(-1);
  if (last === undefined) return { segments, end: 0, totals: new Map(), lastTime: 0 };
  const known = segments.findLast(({ totals }) => totals !== null) ?? segments[0]!;
  const totals = new Map(known.totals ?? []);
  let end = last.base + last.headLength;
  let lastTime = 0;
  const fileEnd = last.base + size;
  const reader = new RecordReader({ segments, end: fileEnd });
  try {
    let record = await reader.next(known.base);
    while (record !== null) {
      for (const [number, total] of record.totals) totals.set(number, total);
      lastTime = record.time;
      end = Math.max(end, record.next);
      record = await reader.next(record.next);
    }
  } finally {
    await reader.close();
  }
  return { segments, end, totals, lastTime };
};
