import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';
import { openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { adminKey } from '../harness/process.ts';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
let dataDir: string;
let databaseUrl: string;
let running: Platform[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'ap-start-'));
  databaseUrl = await createMigrated();
  running = [];
});
afterEach(async () => {
  for (const platform of running) await platform.stop();
  await dropDatabase(databaseUrl);
  await rm(dataDir, { recursive: true, force: true });
});

/** On PostgreSQL, which starts in a fifth of the time, unless `env` has an empty DATABASE_URL. */
const start = async (env: Record<string, string> = {}): Promise<Platform> => {
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: keyOf(1),
    BOOTSTRAP_ADMIN_API_KEY: adminKey,
    ...env,
  });
  const platform = await startPlatform(config, { log: silentLogger });
  running.push(platform);
  return platform;
};
const stop = async (): Promise<void> => running.pop()!.stop();
const apiOf = ({ port }: Platform) => client(`http://127.0.0.1:${port}/api/v2`, adminKey);
const connect = (platform: Platform, url: string) =>
  apiOf(platform).post('/observability/integrations', {
    version: '1',
    settings: { provider: 'otlp_basic_auth', url, username: 'u', password: 'the-pass' },
  });

it('encrypts credentials with the first key, so that the older one can be dropped', async () => {
  const { body } = await connect(await start({ ENCRYPTION_KEY: keyOf(1) }), 'http://127.0.0.1:9/v1/traces');
  await stop();
  await start({ ENCRYPTION_KEY: `${keyOf(2)},${keyOf(1)}` });
  await stop();
  const response = await apiOf(await start({ ENCRYPTION_KEY: keyOf(2) })).get(
    `/observability/integrations/${body.id}`,
  );
  expect(response.body.settings.password).toBe('the-pass');
});

it('refuses to start without the key that credentials are encrypted with, and says which', async () => {
  await connect(await start({ ENCRYPTION_KEY: keyOf(1) }), 'http://127.0.0.1:9/v1/traces');
  await stop();
  const refused = start({ ENCRYPTION_KEY: keyOf(2) });
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(/^ENCRYPTION_KEY: lacks the key [0-9a-f]{8}/);
});

it('delivers to a new integration after an older database was restored next to a newer telemetry log', async () => {
  await using receiver = await startOtlpReceiver();
  const before = await start();
  const { body } = await connect(before, receiver.url);
  await apiOf(before).delete(`/observability/integrations/${body.id}`);
  await before.db.run((r) =>
    sql`select setval(pg_get_serial_sequence('observability_integrations', 'number'), 1, false)`.execute(r),
  );
  await stop();
  const after = await start();
  await connect(after, receiver.url);
  const { status } = await client(`http://127.0.0.1:${after.port}`, adminKey).post('/v1/traces', {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'gen_ai.agent.id', value: { stringValue: 'somebody' } }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: '0af7651916cd43dd8448eb211c80319c',
                spanId: 'b7ad6b7169203331',
                name: 'chat',
                kind: 1,
                startTimeUnixNano: '1',
                endTimeUnixNano: '2',
              },
            ],
          },
        ],
      },
    ],
  });
  expect(status).toBe(200);
  expect((await receiver.waitForSpans(1)).map((span) => span.name)).toEqual(['chat']);
});

it('reports a taken port before it starts any work', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  await expect(start({ PORT: String(port) })).rejects.toThrow(`HOST, PORT: 127.0.0.1:${port} is taken`);
  await new Promise((resolve) => other.close(resolve));
  await start();
});

it('lists all configuration mistakes at once', () => {
  const read = () =>
    readConfig({ PORT: '70000', ROLES: 'api', DATABASE_URL: 'postgres://db/x', LOG_LEVEL: 'loud' });
  let mistakes: string[] = [];
  try {
    read();
  } catch (error) {
    mistakes = (error as ConfigError).mistakes;
  }
  expect(mistakes.map((line) => line.split(':')[0])).toEqual([
    'PORT',
    'LOG_LEVEL',
    'ENCRYPTION_KEY',
    'ROLES',
  ]);
});

it('creates the first key only when it has the port, so that it is never lost before it is printed, for a day', async () => {
  await using other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  // As at the first start of all, when there is no database yet.
  const firstStart = { BOOTSTRAP_ADMIN_API_KEY: '', DATABASE_URL: '', ENCRYPTION_KEY: '' };
  await expect(start({ ...firstStart, PORT: String(port) })).rejects.toThrow('is taken');
  const started = await start(firstStart);
  const base = `http://127.0.0.1:${started.port}/api/v2`;
  const api = client(base, started.firstKey!);
  const { body } = await api.get('/api-keys');
  const [first] = body.data;
  const life = Date.parse(first.expires_at) - Date.parse(first.created_at);
  expect(life / 3_600_000).toBeCloseTo(24, 2);
  // It is there to make keys that work longer, and can be deleted then.
  const made = await api.post('/api-keys', { name: 'mine', role: 'admin' });
  expect([made.status, made.body.expires_at]).toEqual([201, null]);
  expect((await api.post('/api-keys/self/rotate', { expires_at: '9999-01-01T00:00:00Z' })).status).toBe(422);
  expect((await api.delete(`/api-keys/${first.id}?end_made_keys=false`)).status).toBeLessThan(205);
  expect((await api.get('/agents')).status).toBe(401);
  expect((await client(base, made.body.value).get('/agents')).status).toBe(200);
}, 400_000);

it('stops in time even if a client is in the middle of a request', async () => {
  const platform = await start();
  const socket = connectTo(platform.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const head = [
    'POST /api/v2/agents HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${adminKey}`,
    'Content-Length: 9',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{`);
  await apiOf(platform).get('/agents');
  const begun = performance.now();
  await stop();
  expect(performance.now() - begun).toBeLessThan(20_000);
  socket.destroy();
});

it('gives a migration all the time that it needs, and any other statement 30 s', async () => {
  const url = inject('postgresUrl');
  const timeouts: string[] = [];
  for (const db of [await openPostgres(url, silentLogger, 1, 0), await openPostgres(url, silentLogger, 1)]) {
    const { rows } = await db.run((r) =>
      sql<{ statement_timeout: string }>`show statement_timeout`.execute(r),
    );
    timeouts.push(rows[0]!.statement_timeout);
    await db.close();
  }
  expect(timeouts).toEqual(['0', '30s']);
});
