import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type ConfigError, readConfig } from '../../src/config.ts';
import { copyEmbedded, createMigrated } from '../harness/database.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { startPostgresProxy } from '../harness/postgres-proxy.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';

/** A refused start: its exit code, and its standard error and output. */
const refused = async (options: Parameters<typeof spawnPlatform>[0]): Promise<[number | null, string[]]> => {
  await using platform: PlatformProcess = await spawnPlatform({ ...options, readyWithinMs: null });
  const { code } = await platform.exited;
  return [code, platform.output().trim().split('\n')];
};

/** What a start with these variables reports, each in a line of its own, as the first test of mistakes shows. */
const mistakesOf = (env: Record<string, string>): string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).mistakes;
  }
};

describe('two processes on one DATA_DIR', () => {
  test('the second refuses and names the first; when that is killed, a new one starts at once', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ap-start-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    await copyEmbedded(dataDir);
    // As someone makes it who mounts a volume there.
    await chmod(dataDir, 0o755);
    await using first = await spawnPlatform({ dataDir });
    for (const name of (await readdir(dataDir)).filter((one) => one !== 'database'))
      expect((await stat(join(dataDir, name))).mode & 0o077, `${name} is for its owner alone`).toBe(0);
    const [code, lines] = await refused({ dataDir });
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(`^DATA_DIR ${dataDir} is held by process ${first.pid}, since .*Z\\.`),
    ]);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.kill('SIGKILL');
    await using next = await spawnPlatform({ dataDir });
    expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  }, 400_000);
});

describe('configuration mistakes', () => {
  test('every wrong variable gives one clear line, all at once, and exit code 1', async () => {
    const env = {
      PORT: '80800',
      DATABASE_URL: 'mysql://localhost/x',
      BOOTSTRAP_ADMIN_API_KEY: 'short',
      ENCRYPTION_KEY: 'not 32 bytes',
      PUBLIC_URL: 'ftp://example.com',
      ROLES: 'api,cook',
      URL_PLACEHOLDERS: 'A-B',
      TELEMETRY_LOG_URL: 'http://localhost',
      EGRESS_DENY: '10.0.0.0/33',
      EGRESS_ALLOW: 'localhost',
      TRUST_PROXY: 'proxy',
      LOG_LEVEL: 'loud',
      AUDIT_TO_LOG: 'yes',
      LLM_TRACING_PROJECT_HEADER: 'two words',
    };
    const [code, lines] = await refused({ env });
    expect(code).toBe(1);
    expect(lines.map((line) => line.match(/^configuration: ([A-Z_]+): \S/)?.[1]).sort()).toEqual(
      Object.keys(env).sort(),
    );
  }, 400_000);

  test.each([
    ['a key that is missing', { DATABASE_URL: 'postgres://127.0.0.1/x' }, /^ENCRYPTION_KEY: is required/],
    ['a role that is missing', { ROLES: 'api,worker' }, /^ROLES: .*delivery/],
  ])('%s is one mistake', (_what, env, line) => {
    const mistakes = mistakesOf(env);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(line);
  });

  test('a database that does not exist is reported in one line', async () => {
    const url = new URL(inject('postgresUrl'));
    url.pathname = '/nobody_made_this';
    const [code, lines] = await refused({ databaseUrl: url.href });
    expect([code, lines]).toEqual([1, ['configuration: DATABASE_URL: the database does not exist']]);
    const env = { DATABASE_LISTEN_URL: url.href };
    const listening = await refused({ databaseUrl: inject('postgresUrl'), env });
    expect(listening).toEqual([1, ['configuration: DATABASE_LISTEN_URL: the database does not exist']]);
  }, 400_000);

  test('a taken port is reported in one line', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    const databaseUrl = await createMigrated();
    try {
      const [code, lines] = await refused({ port, databaseUrl, env: { LOG_LEVEL: 'silent' } });
      expect([code, lines.length]).toEqual([1, 1]);
      expect(lines[0]).toMatch(new RegExp(`PORT.*${port}`));
    } finally {
      server.close();
      await dropDatabase(databaseUrl);
    }
  }, 400_000);
});

test('the platform waits for a database that becomes ready after its start', async () => {
  const databaseUrl = await createMigrated();
  try {
    const port = await freePort();
    const later = new URL(databaseUrl);
    later.port = String(port);
    await using platform = await spawnPlatform({ databaseUrl: later.href, readyWithinMs: null });
    await until(() => platform.output().includes('the database does not respond yet'), 30_000);
    await using _proxy = await startPostgresProxy(databaseUrl, port);
    await until(async () => (await fetch(`${platform.url}/readyz`)).status === 200, 30_000);
    await platform.stop();
  } finally {
    await dropDatabase(databaseUrl);
  }
}, 400_000);

test('a start that loses its database connections repeatedly continues when they hold', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const cutter = new pg.Client({ connectionString: databaseUrl });
  try {
    await cutter.connect();
    await using platform = await spawnPlatform({ databaseUrl, readyWithinMs: null });
    let cuts = 0;
    const givenUpAt = performance.now() + 30_000;
    // Each cut meets another step of the start; a step that fails is tried again after a second.
    while (cuts < 6 && performance.now() < givenUpAt) {
      const { rowCount } = await cutter.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      if (rowCount) cuts += 1;
      await sleep(rowCount ? 120 : 5);
    }
    await until(async () => (await fetch(`${platform.url}/readyz`)).status === 200, 30_000);
    expect([cuts, (await platform.kill('SIGTERM')).code]).toEqual([6, 0]);
  } finally {
    await cutter.end();
    await dropDatabase(databaseUrl);
  }
}, 400_000);
