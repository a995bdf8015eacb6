import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { copyEmbedded, createMigrated, type databases } from './database.ts';
import { client } from './http.ts';
import { dropDatabase } from './postgres.ts';
import { adminKey } from './process.ts';

export interface TestPlatform extends AsyncDisposable {
  platform: Platform;
  /** `http://127.0.0.1:PORT/api/v2` and `…/app/api`, as the admin. */
  api: ReturnType<typeof client>;
  app: ReturnType<typeof client>;
  /** A client with another key, or none. */
  as(key: string | undefined, base?: string): ReturnType<typeof client>;
  /** `http://127.0.0.1:PORT`. */
  origin: string;
  /** Its DATA_DIR. */
  dataDir: string;
  clock: ShiftedClock;
  stop(): Promise<void>;
}

/** The whole platform in this process, on a folder and a database of its own. */
export const startTestPlatform = async (
  database: (typeof databases)[number] = 'embedded',
  env: Record<string, string> = {},
): Promise<TestPlatform> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-test-'));
  const databaseUrl = database === 'postgres' ? await createMigrated() : undefined;
  if (!databaseUrl && !env.DATABASE_URL) await copyEmbedded(dataDir);
  const clock = new ShiftedClock();
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_API_KEY: adminKey,
    ...(databaseUrl
      ? { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
      : {}),
    ...env,
  });
  const platform = await startPlatform(config, { log: silentLogger, clock });
  const origin = `http://127.0.0.1:${platform.port}`;
  const as = (key: string | undefined, base = '/api/v2') => client(origin + base, key);
  const stop = async (): Promise<void> => {
    await platform.stop();
    if (databaseUrl) await dropDatabase(databaseUrl);
    await rm(dataDir, { recursive: true, force: true });
  };
  return {
    platform,
    origin,
    dataDir,
    clock,
    as,
    api: as(adminKey),
    app: as(adminKey, '/app/api'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
