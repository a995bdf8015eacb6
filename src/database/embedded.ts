import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { createDatabase, type Database, outsideTransaction } from './database.ts';

/**
 * The embedded database in `dataDir`/database, or in memory where it is null. One connection; the caller holds
 * the lock of the folder. It survives a killed process, not a power cut: it does not fsync.
 */
export const openEmbedded = async (dataDir: string | null, log: Logger): Promise<Database> => {
  if (dataDir) mkdirSync(join(dataDir, 'database'), { recursive: true });
  const pglite = await PGlite.create(dataDir ? join(dataDir, 'database') : 'memory://');
  const pool = new pg.Pool({
    ...createPgConfig(pglite),
    max: 1,
    // An idle client that is thrown away loses its notification handlers.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 60_000,
  } as pg.PoolConfig);
  return createDatabase({
    kind: 'embedded',
    pool,
    log,
    listen: (channel, heard) => {
      pglite
        .listen(channel, (payload) => outsideTransaction(() => heard(payload)))
        .catch((error: Error) => {
          log.error({ channel, error: error.message }, 'cannot listen on the embedded database');
        });
    },
    close: () => pglite.close(),
  });
};
