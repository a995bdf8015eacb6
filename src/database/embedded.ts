import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import { isBuilt, projectRoot } from '../lib/build.ts';
import type { Logger } from '../lib/log.ts';
import { createDatabase, type Database } from './database.ts';
import { Listeners } from './listeners.ts';

/**
 * A new database with all migrations, which the build has (tools/program.ts): a copy of it takes a tenth of the time of a
 * new one. Null if this does not run from the build.
 */
const preparedDatabase = isBuilt ? join(projectRoot, 'dist', 'database') : null;

/** Makes the folder of the database if it is missing: all of it or nothing, also if the process is killed meanwhile. */
const makeFolder = (folder: string, prepared: string | null): void => {
  if (existsSync(folder)) return;
  if (prepared === null || !existsSync(prepared)) {
    mkdirSync(folder, { recursive: true });
    return;
  }
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    cpSync(prepared, unfinished, { recursive: true });
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Its code is EIO, also for a full disk, and it has no path.
    throw Object.assign(error as Error, { path: unfinished });
  }
  // Files of a build are for everyone.
  chmodSync(unfinished, 0o700);
  renameSync(unfinished, folder);
};

/**
 * Opens the embedded database in `dataDir`/database, or in memory if it is null. It has one connection. The caller
 * holds the lock of the folder. The database survives a killed process but not a power cut: it does not fsync.
 */
export const openEmbedded = async (
  dataDir: string | null,
  log: Logger,
  prepared = preparedDatabase,
): Promise<Database> => {
  if (dataDir) makeFolder(join(dataDir, 'database'), prepared);
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
