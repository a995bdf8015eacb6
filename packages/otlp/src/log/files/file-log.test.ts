import { appendFile, mkdir, mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { drain as drainOf, namesIn as names, slice, sum } from '../../../tests/log.ts';
import type { Batch, TelemetryLog } from '../log.ts';
import { type FileLogOptions, openFileLog } from './file-log.ts';
import { writeAll } from './writer.ts';

let directory: string;
let log: TelemetryLog;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ap-log-'));
  log = await openFileLog({ directory });
});
afterEach(async () => {
  await log.close();
  await rm(directory, { recursive: true });
});

const reopen = async (options: Partial<FileLogOptions> = {}): Promise<void> => {
  await log.close();
  log = await openFileLog({ directory, ...options });
};
const segments = async () => (await readdir(directory)).filter((name) => name.endsWith('.segment')).sort();
const lastSegment = async () => join(directory, (await segments()).at(-1)!);
const drain = (number: number, maxBytes = 10_000) => drainOf(log, number, maxBytes);

test('batches are read one after the other and passed in one commit, from any span in them', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await log.append([slice(name, 3, [1])]);
  const a = (await log.read(1, 1))!;
  const b = (await log.read(1, 1, a))!;
  const rest = (await log.read(1, 10_000, b))!;
  expect([names(a), names(b)].flat()).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2']);
  expect(names(rest)).toEqual(['c-0', 'c-1', 'c-2', 'd-0', 'd-1', 'd-2']);
  expect(await log.read(1, 10_000, rest)).toBeNull();
  expect(await log.commit(rest, 1, { delivered: 7 })).toBe(true);
  // Spans that the cursor has passed are not read again, whatever batch is passed as `after`.
  expect(names(await log.read(1, 10_000, a))).toEqual(['c-1', 'c-2', 'd-0', 'd-1', 'd-2']);
  await reopen();
  expect(await drain(1)).toEqual(['c-1', 'c-2', 'd-0', 'd-1', 'd-2']);
});

test('damage is counted when the cursor reaches it, not when it is read ahead', async () => {
  await reopen({ segmentBytes: 3_000 });
  for (let i = 0; i < 12; i++) await log.append([slice(`s${i}`, 1, [1], 1_000)]);
  const first = (await log.read(1, 1))!;
  for (const path of (await segments()).slice(1, -1)) await rm(join(directory, path));
  let last = first;
  for (let next: Batch | null = first; next !== null; next = await log.read(1, 1, last)) last = next;
  expect(log.counters(1).discarded).toBe(0);
  const ahead = last.start + last.spans;
  expect(await log.commit(last, last.spans, { delivered: ahead })).toBe(true);
  const delivered = await drain(1);
  expect(delivered.at(-1)).toBe('s11-0');
  expect(log.counters(1)).toMatchObject({ discarded: 12 - ahead - delivered.length, queued: 0 });
  expect(log.counters(1).discarded).toBeGreaterThan(0);
});

test('a torn tail is cut off and what was acknowledged before it stays', async () => {
  await log.append([slice('a', 3, [1])]);
  const whole = (await stat(await lastSegment())).size;
  await log.append([slice('torn', 3, [1], 1_000)]);
  const size = (await stat(await lastSegment())).size;
  for (const length of [size - 1, size - 1_500, whole + 30, whole + 3]) {
    await log.close();
    await truncate(await lastSegment(), length);
    log = await openFileLog({ directory });
    expect((await stat(await lastSegment())).size).toBe(whole);
    expect(log.counters(1).queued).toBe(3);
  }
  await log.close();
  await appendFile(await lastSegment(), Buffer.alloc(5_000, 7));
  log = await openFileLog({ directory });
  await log.append([slice('b', 1, [1])]);
  expect(await drain(1)).toEqual(['a-0', 'a-1', 'a-2', 'b-0']);
});

test('a damaged record is passed and counted as discarded, with its header intact or not', async () => {
  const damage = async (at: (size: number) => number) => {
    const before = (await stat(await lastSegment())).size;
    await log.append([slice('bad', 4, [1, 2])]);
    const file = await open(await lastSegment(), 'r+');
    await file.write(Buffer.from('DAMAGE'), 0, 6, before + at((await file.stat()).size - before));
    await file.close();
  };
  await log.append([slice('a', 2, [1, 2])]);
  await damage((size) => size - 20);
  await log.append([slice('b', 2, [1])]);
  await damage(() => 10);
  await damage(() => 30);
  await log.append([slice('c', 2, [1, 2])]);
  await damage((size) => size - 20);
  await reopen();
  expect(await drain(1)).toEqual(['a-0', 'a-1', 'b-0', 'b-1', 'c-0', 'c-1']);
  expect(log.counters(1)).toMatchObject({ delivered: 6, discarded: 16, queued: 0 });
  expect(await drain(2)).toEqual(['a-0', 'a-1', 'c-0', 'c-1']);
  expect(log.counters(2)).toMatchObject({ delivered: 4, discarded: 16, queued: 0 });
});

test('one damaged cursor slot falls back to the other; with two damaged slots no span is lost and the counters add up', async () => {
  await log.append([slice('a', 4, [1])]);
  const batch = (await log.read(1, 10_000))!;
  await log.commit(batch, 1, { delivered: 1 });
  await log.commit(batch, 2, { delivered: 1 });
  const damageSlot = async (slot: number) => {
    await log.close();
    const file = await open(join(directory, 'cursors', '1'), 'r+');
    await file.write(Buffer.from('x'), 0, 1, slot * 4096 + 30);
    await file.close();
    log = await openFileLog({ directory });
  };
  await damageSlot(0);
  expect(names(await log.read(1, 10_000))).toEqual(['a-1', 'a-2', 'a-3']);
  await damageSlot(1);
  expect(names(await log.read(1, 10_000))).toHaveLength(4);
  expect(sum(log.counters(1))).toBe(4);
});

test('a segment is deleted when every integration has passed it, and an idle integration pins none', async () => {
  await reopen({ segmentBytes: 4_000 });
  await log.append([slice('idle', 1, [3])]);
  await drain(3);
  for (let i = 0; i < 20; i++) await log.append([slice(`s${i}`, 1, [1, 2], 1_000)]);
  expect((await segments()).length).toBeGreaterThan(3);
  await drain(1);
  expect((await segments()).length).toBeGreaterThan(3);
  await drain(2);
  expect(await segments()).toHaveLength(1);
  await reopen({ segmentBytes: 4_000 });
  await log.append([slice('late', 1, [3])]);
  expect(await drain(3)).toEqual(['late-0']);
  expect([1, 2, 3].map((n) => log.counters(n).delivered)).toEqual([20, 20, 2]);
});

test('retention expires the oldest first, by age and by size, and counts them before it deletes them', async () => {
  let now = 1_000_000;
  await reopen({ segmentBytes: 4_000, now: () => now });
  for (let i = 0; i < 12; i++) {
    now += 1_000;
    await log.append([slice(`s${i}`, 1, [1, 2], 1_000)]);
  }
  const early = (await log.read(1, 100))!;
  await log.expire(1_006_000, 1e9);
  const aged = log.counters(1).expired;
  expect(aged).toBeGreaterThanOrEqual(3);
  expect(aged).toBeLessThanOrEqual(6);
  expect(names(await log.read(1, 100))).toEqual([`s${aged}-0`]);
  expect(await log.oldest(1)).toBe(1_001_000 + aged * 1_000);
  // Spans that were read before are expired now, so they must not be delivered as well.
  expect(await log.commit(early, 1, { delivered: 1 })).toBe(false);
  await log.expire(0, 4_500);
  expect(log.counters(1).queued).toBeLessThanOrEqual(4);
  expect(log.counters(1).expired).toBe(12 - log.counters(1).queued);
  now += 3_600_000;
  await log.expire(now - 1_000, 1e9);
  expect(log.counters(2)).toMatchObject({ expired: 12, queued: 0 });
  await reopen({ now: () => now });
  await log.append([slice('after', 1, [1])]);
  expect(await drain(1)).toEqual(['after-0']);
  expect(sum(log.counters(1))).toBe(13);
});

test('retention by size is exact to the record, even if one segment holds more than the size', async () => {
  for (let i = 0; i < 12; i++) await log.append([slice(`s${i}`, 1, [1, 2], 1_000)]);
  expect(await log.commit((await log.read(2, 10_000))!, 3, { delivered: 3 })).toBe(true);
  for (let i = 0; i < 2; i++) {
    await log.expire(0, 6_000);
    const { expired, queued } = log.counters(1);
    expect(queued).toBeGreaterThanOrEqual(4);
    expect(queued).toBeLessThanOrEqual(6);
    expect(expired + queued).toBe(12);
    expect(names(await log.read(1, 100))).toEqual([`s${expired}-0`]);
    expect(log.counters(2)).toMatchObject({ delivered: 3, expired: expired - 3, queued });
    await reopen();
  }
  expect(await drain(1)).toHaveLength(log.counters(1).delivered);
  await drain(2);
  expect(await segments()).toHaveLength(1);
});

test('a full disk refuses appends, the log stays readable, and appends work again when there is room', async () => {
  let room = true;
  await reopen({
    write: async (file, bytes, at) => {
      if (room) return writeAll(file, bytes, at);
      await writeAll(file, [Buffer.concat(bytes).subarray(0, 40)], at);
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    },
  });
  await log.append([slice('a', 1, [1])]);
  room = false;
  const refused = [1, 2, 3].map(() => log.append([slice('lost', 1, [1])]));
  for (const one of refused)
    await expect(one).rejects.toMatchObject({ name: 'TelemetryLogError', kind: 'full' });
  await expect(log.append([slice('lost', 1, [1])])).rejects.toMatchObject({ kind: 'full' });
  expect(names(await log.read(1, 10_000))).toEqual(['a-0']);
  room = true;
  await log.append([slice('b', 1, [1])]);
  await reopen();
  expect(await drain(1)).toEqual(['a-0', 'b-0']);
  expect(log.counters(1)).toMatchObject({ delivered: 2, discarded: 0 });
});

test('on a full disk a segment that all have passed is deleted, even the last one, and the counters continue', async () => {
  let room = true;
  await reopen({
    write: (file, bytes, at) =>
      room ? writeAll(file, bytes, at) : Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
  });
  await log.append([slice('a', 3, [1, 2])]);
  room = false;
  expect(await drain(1)).toHaveLength(3);
  await expect(log.append([slice('lost', 1, [1])])).rejects.toMatchObject({ kind: 'full' });
  expect(await segments()).toHaveLength(1);
  expect(await drain(2)).toHaveLength(3);
  expect(await segments()).toEqual([]);
  await reopen();
  expect(log.counters(1)).toMatchObject({ delivered: 3, queued: 0 });
  await log.append([slice('b', 2, [1, 2])]);
  await reopen();
  expect([await drain(1), await drain(2)]).toEqual([
    ['b-0', 'b-1'],
    ['b-0', 'b-1'],
  ]);
  expect(log.counters(2)).toMatchObject({ delivered: 5, queued: 0 });
});

test('an append that was refused leaves nothing, even if its bytes had reached the file', async () => {
  let fails = true;
  await reopen({
    write: async (file, bytes, at) => {
      await writeAll(file, bytes, at);
      if (fails && at > 0) throw Object.assign(new Error('bad disk'), { code: 'EIO' });
    },
  });
  await expect(log.append([slice('lost', 1, [1])])).rejects.toMatchObject({ kind: 'failed' });
  await reopen();
  expect(log.counters(1).queued).toBe(0);
  fails = false;
  await log.append([slice('a', 1, [1])]);
  expect(await drain(1)).toEqual(['a-0']);
});

test('a lost segment file is counted as discarded, and the rest is delivered', async () => {
  await reopen({ segmentBytes: 3_000 });
  for (let i = 0; i < 9; i++) await log.append([slice(`s${i}`, 1, [1], 1_000)]);
  await rm(join(directory, (await segments())[1]!));
  const delivered = await drain(1);
  expect(delivered.length + log.counters(1).discarded).toBe(9);
  expect(delivered).toContain('s0-0');
  expect(delivered).toContain('s8-0');
  expect(log.counters(1).discarded).toBeGreaterThan(0);
});

test('a segment that cannot be deleted undoes no commit; retention reports it and deletes it later', async () => {
  await reopen({ segmentBytes: 1 });
  await log.append([slice('a', 1, [1])]);
  await log.append([slice('b', 1, [1])]);
  const first = join(directory, (await segments())[0]!);
  const batch = (await log.read(1, 1))!;
  await rm(first);
  await mkdir(first);
  expect(await log.commit(batch, 1, { delivered: 1 })).toBe(true);
  await expect(log.expire(0, 1e9)).rejects.toThrow();
  expect(await drain(1)).toEqual(['b-0']);
  await rm(first, { recursive: true });
  await log.expire(0, 1e9);
  expect(await segments()).toHaveLength(1);
});
