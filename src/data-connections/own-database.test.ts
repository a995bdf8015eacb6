import { expect, test } from 'vitest';
import { createMigrated } from '../../tests/harness/database.ts';
import { openParts } from '../../tests/harness/foreign.ts';
import { dropDatabase } from '../../tests/harness/postgres.ts';
import { offlineDatabase, openPostgres } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { postgres } from './engines/postgres.ts';
import { createOwnDatabase } from './own-database.ts';

test("the platform's own database is refused under every name of its host", async () => {
  const url = await createMigrated();
  const db = await openPostgres(url, silentLogger, 2);
  const own = createOwnDatabase(db, url);
  const { port, pathname } = new URL(url);
  const settings = {
    port: Number(port),
    database: pathname.slice(1),
    username: 'postgres',
    tls: { mode: 'disable' as const },
  };
  const open = (host: string, database = settings.database) => {
    const parts = openParts({ own });
    return postgres.open({ ...settings, host, database }, parts).finally(() => {
      // Before anything is connected to.
      if (database === settings.database) expect(parts.progress.steps).toEqual([]);
    });
  };
  for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '0.0.0.0']) {
    await expect(open(host), host).rejects.toMatchObject({ reason: 'denied', step: 'resolve' });
  }
  const other = await open('127.0.0.1', 'postgres');
  other.close();

  // A proxy, or an address that no look-up connects with the platform's: only the server itself can tell.
  const unknown = { ...own, isAt: async () => false };
  const hidden = postgres.open({ ...settings, host: '127.0.0.1' }, openParts({ own: unknown }));
  await expect(hidden).rejects.toMatchObject({ reason: 'denied', step: 'resolve' });
  await db.close();
  await dropDatabase(url);
});

test('a platform on the embedded database has none to refuse', async () => {
  const own = createOwnDatabase(offlineDatabase, null);
  expect([own.exists, await own.isAt(['127.0.0.1'], 5_432, 'x'), await own.isServer('1', 'x')]).toEqual([
    ...[false, false, false],
  ]);
});
