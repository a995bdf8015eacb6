import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deadLetter, slice } from '../../../tests/log.ts';
import { deadLetterId } from '../dead-letter.ts';
import type { TelemetryLog } from '../log.ts';
import { openFileLog } from './file-log.ts';

let directory: string;
let log: TelemetryLog;
const folder = () => join(directory, 'dead-letters', '1');
const path = (ordinal: number, end = '') => join(folder(), `${deadLetterId(ordinal)}${end}`);

/** Ten spans of integration 1, of which the first four are dead letters and the next two were delivered. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ap-letters-'));
  log = await openFileLog({ directory });
  await log.append([slice('s', 10, [1])]);
  const batch = (await log.read(1, 1e6))!;
  await log.commit(batch, 6, { delivered: 2 }, [0, 1, 2, 3].map(deadLetter));
});
afterEach(async () => {
  await log.close();
  await rm(directory, { recursive: true });
});

const restart = async (): Promise<void> => {
  await log.close();
  log = await openFileLog({ directory });
};
const state = async () => {
  const { delivered, dead_lettered, discarded, expired, queued } = log.counters(1);
  expect(delivered + dead_lettered + discarded + expired + queued).toBe(10);
  expect(await log.deadLetterIds(1)).toHaveLength(dead_lettered);
  expect(await readdir(folder()).catch(() => [])).toHaveLength(dead_lettered);
  return { delivered, dead_lettered, discarded, expired };
};
/** A dead letter as a crash before its commit leaves it. */
const stray = (ordinal: number) =>
  writeFile(path(ordinal), '{"at":"2026-01-01T00:00:00.000Z","status":400,"reason":"no","bytes":5}\nstray');

test('the file of a dead letter is a line of JSON and the span, as earlier releases wrote and read it', async () => {
  expect(await readFile(path(0), 'utf8')).toBe(
    '{"at":"2026-01-02T03:04:05.678Z","status":400,"reason":"no","bytes":6}\nspan 0',
  );
});

test('a crash between writing a dead letter and counting it leaves none: the span is still queued', async () => {
  await stray(6);
  expect(await log.deadLetterIds(1)).toHaveLength(4);
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 4 });
});

test('a dead letter that was written and then expired before its commit is gone after a crash, the others stay', async () => {
  await stray(6);
  await log.expire(0, 0);
  await restart();
  expect(await state()).toEqual({ delivered: 2, dead_lettered: 4, discarded: 0, expired: 4 });
  expect((await log.deadLetterIds(1)).map(Number)).toEqual([0, 1, 2, 3]);
});

test('a dead letter that was ending at a crash is counted once, before or after it', async () => {
  await rename(path(0), path(0, '.delivered'));
  await rename(path(1), path(1, '.discarded'));
  await restart();
  expect(await state()).toEqual({ delivered: 3, dead_lettered: 2, discarded: 1, expired: 0 });
  const kept = await log.getDeadLetter(1, deadLetterId(2));
  await log.endDeadLetters(1, [deadLetterId(2)], 'delivered');
  await writeFile(path(2, '.delivered'), kept!.span);
  await restart();
  expect(await state()).toEqual({ delivered: 4, dead_lettered: 1, discarded: 1, expired: 0 });
});

test('files that someone removed count as discarded, those of a deleted integration are removed', async () => {
  await rm(path(3));
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 3, discarded: 1 });
  await log.remove(1);
  await restart();
  expect(await state()).toMatchObject({ dead_lettered: 0, discarded: 8 });
});
