import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type Database, migrate, openEmbedded, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createDatabase, dropDatabase } from './postgres.ts';

/** A migrated database of its own, empty: in memory, or in the PostgreSQL of the test run. */
export async function openMigrated(kind: Database['kind']): Promise<Database & AsyncDisposable> {
  const url = kind === 'postgres' ? await createDatabase(inject('postgresUrl')) : null;
  const db = url ? await openPostgres(url, silentLogger) : await openEmbedded(null, silentLogger);
  await migrate(db, silentLogger);
  return {
    ...db,
    [Symbol.asyncDispose]: async () => {
      await db.close();
      if (url) await dropDatabase(url);
    },
  };
}

/**
 * The same tests on the embedded database and on PostgreSQL. `open` answers the one database of the block, which
 * is made before its tests and goes after them.
 */
export function eachDatabase(tests: (name: Database['kind'], open: () => Database) => void): void {
  describe.each(['embedded', 'postgres'] as const)('on the %s database', (kind) => {
    let db: Database & AsyncDisposable;
    beforeAll(async () => {
      db = await openMigrated(kind);
    });
    afterAll(() => db?.[Symbol.asyncDispose]());
    tests(kind, () => db);
  });
}
