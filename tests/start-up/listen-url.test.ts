import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { client } from '../harness/http.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { startPostgresProxy } from '../harness/postgres-proxy.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
});
afterAll(() => dropDatabase(databaseUrl));

const env = { LOG_LEVEL: 'warn', ROLES: 'api,worker,delivery' };
const lost = /notifications of the database do not arrive/;

/** How long a new Work Item takes to be carried out, in milliseconds. */
const carriedOut = async ({ url, key }: PlatformProcess): Promise<number> => {
  const api = client(`${url}/api/v2`, key);
  const agent = await api.post('/agents', { name: 'A', mode: 'worker' });
  const begun = performance.now();
  const item = await api.post('/work-items', { agent_id: agent.body.id });
  await until(async () => (await api.get(`/work-items/${item.body.id}`)).body.status === 'COMPLETED', 60_000);
  return performance.now() - begun;
};

test('notifications come over DATABASE_LISTEN_URL, and nothing is listened to behind a pooler', async () => {
  await using pooler = await startPostgresProxy(databaseUrl);
  const listened: string[] = [];
  pooler.decide = ({ text }) => {
    if (/^listen/i.test(text)) listened.push(text);
    return 'pass';
  };
  await using platform = await spawnPlatform({
    databaseUrl: pooler.url,
    env: { ...env, DATABASE_LISTEN_URL: databaseUrl },
  });
  // Without them a worker looks by itself within a minute. A busy machine may take 5 s once, and not each time.
  await carriedOut(platform);
  let took = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && took > 5_000; tries++) took = await carriedOut(platform);
  expect(took).toBeLessThan(5_000);
  expect(listened).toEqual([]);
});

test('the log says that notifications do not arrive', async () => {
  const listen = new URL(databaseUrl);
  listen.pathname = '/postgres';
  await using platform = await spawnPlatform({
    databaseUrl,
    env: { ...env, DATABASE_LISTEN_URL: listen.href },
  });
  await until(() => lost.test(platform.output()), 20_000);
});
