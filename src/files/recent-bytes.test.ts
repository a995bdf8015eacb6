import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { RecentBytes } from './recent-bytes.ts';
import { rowBytes } from './row-bytes.ts';

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-recent-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A place for copies of at most 1,000 bytes. */
const fixture = async (ms = 60_000) => {
  const folder = await newFolder();
  const recent = new RecentBytes(join(folder, 'recent'), { bytes: 1_000, ms });
  const fileOf = async (bytes: number) => {
    const path = join(folder, newId());
    await writeFile(path, 'x'.repeat(bytes));
    return path;
  };
  const target = () => join(folder, `copy-${newId()}`);
  return { folder, recent, fileOf, target };
};

test('what was used longest ago goes first, what is too large is not kept, and what was removed is gone', async () => {
  const { recent, fileOf, target } = await fixture();
  const [a, b, c, large] = [newId(), newId(), newId(), newId()];
  await recent.take(a, await fileOf(400), 400);
  await recent.take(b, await fileOf(400), 400);
  const used = target();
  expect(await recent.copy(a, used)).toBe(true);
  expect((await readFile(used)).length).toBe(400);
  const path = await fileOf(2_000);
  await recent.take(large, path, 2_000);
  expect(existsSync(path)).toBe(true);
  await recent.keep(c, used, 400);
  expect(existsSync(used)).toBe(true);
  const kept = async () => Promise.all([a, b, c, large].map((id) => recent.copy(id, target())));
  expect(await kept()).toEqual([true, false, true, false]);
  recent.remove([a]);
  expect(await kept()).toEqual([false, false, true, false]);
  await until(async () => (await readdir(recent.folder)).length === 1);
});

test('a copy ends on its own', async () => {
  const { recent, fileOf, target } = await fixture(30);
  const id = newId();
  await recent.take(id, await fileOf(4), 4);
  await until(async () => (await readdir(recent.folder)).length === 0);
  expect(await recent.copy(id, target())).toBe(false);
});

test('nothing stays after a stop, and what a process that was killed left goes at the start', async () => {
  const { recent, fileOf, target } = await fixture();
  const id = newId();
  await recent.take(id, await fileOf(4), 4);
  await writeFile(join(recent.folder, newId()), 'left');
  await recent.clear();
  expect(existsSync(recent.folder)).toBe(false);
  expect(await recent.copy(id, target())).toBe(false);
  await recent.take(id, await fileOf(4), 4);
  expect(await recent.copy(id, target())).toBe(true);
});

eachDatabase((name, open) => {
  test.skipIf(name !== 'postgres')(
    'bytes are read from the database once in a while, and what a job does to its file changes no other',
    async () => {
      const { recent, fileOf, target } = await fixture();
      const db = open();
      const bytes = rowBytes(db, recent);
      const id = newId();
      await bytes.put(id, await fileOf(500));
      const lose = () => db.run((executor) => sql`delete from file_bytes`.execute(executor));
      const read = async () => {
        const path = target();
        await bytes.copy(id, path);
        const content = await readFile(path, 'utf8');
        await writeFile(path, 'y');
        return content.length;
      };
      expect([await read(), await read()]).toEqual([500, 500]);
      recent.remove([id]);
      expect([await read(), await read()]).toEqual([500, 500]);
      await lose();
      expect(await read()).toBe(500);
      await bytes.remove([id]);
      expect(await read()).toBe(0);
    },
  );
});
