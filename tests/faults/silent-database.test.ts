import { expect, inject, test } from 'vitest';
import { openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { startPostgresProxy } from '../harness/postgres-proxy.ts';

test('a database cut off in silence gives 503 in bounded time, and its connections are not used again', async () => {
  const url = await createDatabase(inject('postgresUrl'));
  try {
    await using proxy = await startPostgresProxy(url);
    const db = await openPostgres(proxy.url, silentLogger, 2, 300);
    const one = () => db.run((reader) => sql`select ${1}::int as n`.execute(reader));
    const change = () => db.tx((tx) => sql`select ${2}::int as n`.execute(tx));
    await Promise.all([one(), change()]);
    proxy.silent = true;
    const begun = Date.now();
    const away = await Promise.allSettled([one(), change()]);
    expect(away.map((each) => each.status === 'rejected' && each.reason.status)).toEqual([503, 503]);
    expect(Date.now() - begun).toBeLessThan(20_000);
    proxy.silent = false;
    expect((await one()).rows).toEqual([{ n: 1 }]);
    expect((await change()).rows).toEqual([{ n: 2 }]);
    await db.close();
  } finally {
    await dropDatabase(url);
  }
}, 400_000);
