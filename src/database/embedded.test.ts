import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import { silentLogger } from '../lib/log.ts';
import { openEmbedded } from './embedded.ts';

const dataFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'ap-embedded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** Whether the database in the folder, opened with `prepared`, has tables. */
const hasTables = async (folder: string, prepared: string | null): Promise<boolean> => {
  const db = await openEmbedded(folder, silentLogger, prepared);
  try {
    const { rows } = await db.run((executor) =>
      sql<{ has: boolean }>`select to_regclass('work_items') is not null as has`.execute(executor),
    );
    return rows[0]!.has;
  } finally {
    await db.close();
  }
};

test('a new embedded database is a copy of the one of the build, for its owner alone', async () => {
  const folder = dataFolder();
  expect(await hasTables(folder, inject('embeddedTemplate'))).toBe(true);
  expect(statSync(join(folder, 'database')).mode & 0o777).toBe(0o700);
});

test('a copy that a killed start left unfinished is made again', async () => {
  const folder = dataFolder();
  mkdirSync(join(folder, 'database.unfinished', 'base'), { recursive: true });
  writeFileSync(join(folder, 'database.unfinished', 'PG_VERSION'), '1');
  expect(await hasTables(folder, inject('embeddedTemplate'))).toBe(true);
  expect(existsSync(join(folder, 'database.unfinished'))).toBe(false);
});

test('a database that is there is not replaced, and without one of the build it is made empty', async () => {
  const folder = dataFolder();
  expect(await hasTables(folder, join(folder, 'nothing'))).toBe(false);
  expect(await hasTables(folder, inject('embeddedTemplate'))).toBe(false);
});
