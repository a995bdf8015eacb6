import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { spansNamed } from '../../../../tests/harness/otlp-encode.ts';
import type { TelemetryLog } from '../log.ts';
import { DeadLetterFiles } from './dead-letters.ts';
import { openFileLog } from './file-log.ts';

let directory: string;
let log: TelemetryLog;
let letters: DeadLetterFiles;
const letter = { at: '2026-01-01T00:00:00.000Z', status: 400, reason: 'no', bytes: 7 };
const folder = () => join(directory, 'letters', '1');

/** Ten spans of integration 1, of which the first four are dead letters and the next two were delivered. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ap-letters-'));
  log = await openFileLog({ directory: join(directory, 'log') });
  letters = new DeadLetterFiles(join(directory, 'letters'), log);
  await log.append([{ bytes: spansNamed('s', 10), spans: 10, routes: [1] }]);
  for (let i = 0; i < 4; i++) await letters.put(1, i, letter, Buffer.from(`span ${i}`));
  const batch = (await log.read(1, 1e6))!;
  await log.commit(batch, 6, { dead_lettered: 4, delivered: 2 });
});
afterEach(async () => {
  await log.close();
  await rm(directory, { recursive: true });
});

const restart = async (): Promise<void> => {
  await log.close();
  log = await openFileLog({ directory: join(directory, 'log') });
  letters = new DeadLetterFiles(join(directory, 'letters'), log);
  await letters.reconcile();
};
const state = async () => {
  const { delivered, dead_lettered, discarded, expired, queued } = log.totals(1);
  expect(delivered + dead_lettered + discarded + expired + queued).toBe(10);
  expect(await letters.ids(1)).toHaveLength(dead_lettered);
  expect(await readdir(folder()).catch(() => [])).toHaveLength(dead_lettered);
  return { delivered, dead_lettered, discarded, expired };
};

test('letters are listed page by page and end as delivered, discarded or expired', async () => {
  const [first, second] = await letters.list(1, 2);
  expect(first).toEqual({ id: '0000000000000000', ...letter });
  expect((await letters.list(1, 9, second!.id)).map(({ id }) => Number(id))).toEqual([2, 3]);
  expect((await letters.get(1, second!.id))!.span.toString()).toBe('span 1');
  expect(await letters.get(1, '../../log/cursors/1')).toBeNull();
  await letters.end(1, [first!.id], 'delivered');
  expect(await letters.end(1, [first!.id], 'delivered')).toBe(0);
  await letters.end(1, [second!.id], 'discarded');
  await letters.expire(Date.parse(letter.at));
  expect(await state()).toEqual({ delivered: 3, dead_lettered: 2, discarded: 1, expired: 0 });
  await letters.expire(Date.parse(letter.at) + 1);
  expect(await state()).toEqual({ delivered: 3, dead_lettered: 0, discarded: 1, expired: 2 });
});

test('a crash between writing a letter and counting it leaves no letter: the span is still queued', async () => {
  await letters.put(1, 6, letter, Buffer.from('stray'));
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 4 });
});

test('a crash before a leaving letter is counted out counts it then, one after does not count it twice', async () => {
  await rename(join(folder(), '0000000000000000'), join(folder(), '0000000000000000.delivered'));
  await rename(join(folder(), '0000000000000001'), join(folder(), '0000000000000001.discarded'));
  await restart();
  expect(await state()).toEqual({ delivered: 3, dead_lettered: 2, discarded: 1, expired: 0 });
  await rename(join(folder(), '0000000000000002'), join(folder(), '0000000000000002.delivered'));
  await log.move(1, { dead_lettered: -1, delivered: 1 });
  await restart();
  expect(await state()).toEqual({ delivered: 4, dead_lettered: 1, discarded: 1, expired: 0 });
});

test('letters that someone took away count as discarded, those of a deleted integration go', async () => {
  await rm(join(folder(), '0000000000000003'));
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 3, discarded: 1 });
  await log.remove(1);
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 0, discarded: 8 });
});
