import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../src/config.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { setDatabaseClock } from '../../tests/harness/database-clock.ts';
import { type Client, client } from '../../tests/harness/http.ts';
import { type Postgres, startPostgres } from '../../tests/harness/postgres.ts';
import { until } from '../../tests/harness/wait.ts';

const key = 'key-of-the-pictures-0123456789-0123456789';

/**
 * A platform on its own PostgreSQL, both of which live at another time. `moveTo` jumps, and resolves when everything due
 * by then has fired and ended. So a night of real firings takes a minute.
 */
export interface Night extends AsyncDisposable {
  readonly key: string;
  readonly origin: string;
  api: Client;
  app: Client;
  /** Moves the time of the platform and of its database, in milliseconds since 1970. It only goes on. */
  moveTo(time: number): Promise<void>;
  /** Stops the platform, moves the time, and starts it again. */
  downUntil(time: number): Promise<void>;
}

/** Whether the database is at the time `$1` (its sessions hear of a new one a moment later) and everything due has ended. */
const isSettled = `select platform_now() >= to_timestamp($1 / 1000.0) and not exists (select from schedules where next_run_at <= platform_now())
  and not exists (select from work_items where status = 'EXECUTING'
    or status = 'PENDING' and coalesce(not_before, created_at) <= platform_now()) as settled`;

const newStorage = async (): Promise<{
  server: Postgres;
  url: string;
  dataDir: string;
  stop(): Promise<void>;
}> => {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-platform-pictures-'));
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { server, url, dataDir, stop };
};

/** Starts a platform at `from`, in milliseconds since 1970. */
export const startNight = async (from: number): Promise<Night> => {
  const { server, url, dataDir, stop } = await newStorage();
  const clock = new ShiftedClock();
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_API_KEY: key,
  });
  const setTime = async (time: number): Promise<void> => {
    clock.advance(time - clock.now());
    await setDatabaseClock(server.dataDir, clock.offset, server.pid);
  };
  let platform: Platform;
  const start = async () => {
    platform = await startPlatform(config, { log: silentLogger, clock });
  };
  await setTime(from);
  await start();
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const at = (base: string) => (): Client => client(`http://127.0.0.1:${platform.port}${base}`, key);
  const [api, app] = [at('/api/v2'), at('/app/api')];
  const settled = async (time: number) => {
    // A firing loop sleeps by the time that it knew: the notification of a write wakes it.
    await database.query(`select pg_notify('schedules', '0')`);
    return (await database.query(isSettled, [time])).rows[0].settled;
  };
  return {
    key,
    get origin() {
      return `http://127.0.0.1:${platform.port}`;
    },
    get api() {
      return api();
    },
    get app() {
      return app();
    },
    moveTo: async (time) => {
      await setTime(time);
      await until(() => settled(time));
    },
    downUntil: async (time) => {
      await platform.stop();
      await setTime(time);
      await start();
      await until(() => settled(time));
    },
    [Symbol.asyncDispose]: async () => {
      await platform.stop();
      await database.end();
      await stop();
    },
  };
};
