import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type Database, openEmbedded, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createDatabase, dropDatabase } from './postgres.ts';

export const databases = ['embedded', 'postgres'] as const;

/**
 * Those of `databases` that this run tests: `npm test` runs on PostgreSQL what runs on both, `npm run test:wide` on the
 * embedded one, and the long run on both.
 */
export const testedDatabases = databases.filter((one) => (process.env.TEST_DATABASE ?? one) === one);

/** The URL of a new database in the PostgreSQL of the test run, migrated and empty. */
export const createMigrated = (): Promise<string> =>
  createDatabase(inject('postgresUrl'), undefined, inject('migratedTemplate'));

/** Puts an embedded database, migrated and empty, into a data folder. `cpSync` takes a fifth of the CPU time of `cp`. */
export const copyEmbedded = async (dataDir: string): Promise<void> =>
  cpSync(inject('embeddedTemplate'), join(dataDir, 'database'), { recursive: true });

/** A migrated database of its own, empty: embedded, or in the PostgreSQL of the test run. */
export async function openMigrated(kind: Database['kind']): Promise<Database & AsyncDisposable> {
  if (kind === 'postgres') {
    const url = await createMigrated();
    const db = await openPostgres(url, silentLogger);
    return {
      ...db,
      [Symbol.asyncDispose]: async () => {
        await db.close();
        await dropDatabase(url);
      },
    };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-database-'));
  await copyEmbedded(dataDir);
  const db = await openEmbedded(dataDir, silentLogger);
  return {
    ...db,
    [Symbol.asyncDispose]: async () => {
      await db.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** `open` returns the one database of the block, which is created before its tests and removed after them. */
export function withDatabase(kind: Database['kind'], tests: (open: () => Database) => void): void {
  let db: Database & AsyncDisposable;
  beforeAll(async () => {
    db = await openMigrated(kind);
  });
  afterAll(() => db?.[Symbol.asyncDispose]());
  tests(() => db);
}

type Kinds = readonly Database['kind'][];
type DatabaseTests = (name: Database['kind'], open: () => Database) => void;

const onEachOf = (kinds: Kinds, tests: DatabaseTests): void =>
  describe.each(kinds)('on the %s database', (kind) => withDatabase(kind, (open) => tests(kind, open)));

/** The same tests on the embedded database and on PostgreSQL (`testedDatabases`), each with the one database of its block. */
export const eachDatabase = (tests: DatabaseTests): void => onEachOf(testedDatabases, tests);

/**
 * The tests on PostgreSQL, and in the long run on the embedded database too: for long tests of statements that others
 * run on both.
 */
export const onPostgres = (tests: DatabaseTests): void =>
  onEachOf(process.env.EVERY_DATABASE ? ['embedded', 'postgres'] : ['postgres'], tests);
