import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { createDatabase, type Database } from './database.ts';
import { Listeners } from './listeners.ts';

/**
 * Opens the embedded database in `dataDir`/database, or in memory if it is null. It has one connection. The caller
 * holds the lock of the folder. The database survives a killed process but not a power cut: it does not fsync.
 */
export const openEmbedded = async (dataDir: string | null, log: Logger): Promise<Database> => {
  if (dataDir) mkdirSync(join(dataDir, 'database'), { recursive: true });
  const pglite = await PGlite.create(dataDir ? join(dataDir, 'database') : 'memory://');
  const pool = new pg.Pool({
    ...createPgConfig(pglite),
    max: 1,
    pipeline: true,
    // An idle client that is thrown away loses its notification handlers.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 60_000,
  } as pg.PoolConfig);
  const listeners = new Listeners();
  return createDatabase({
    kind: 'embedded',
    pool,
    log,
    listen: (channel, listener) => {
      if (!listeners.add(channel, listener)) return;
      pglite
        .listen(channel, (payload) => listeners.notify(channel, payload))
        .catch((error: Error) => {
          log.error({ channel, error: error.message }, 'cannot listen on the embedded database');
        });
    },
    close: () => pglite.close(),
  });
};
