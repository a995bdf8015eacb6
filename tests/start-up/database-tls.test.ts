import { chownSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute, type Postgres, query, startPostgres } from '../harness/postgres.ts';
import { unprivileged } from '../harness/postgres-binaries.ts';
import { spawnPlatform } from '../harness/process.ts';
import { selfSigned, selfSignedAway } from '../harness/self-signed.ts';
import { until } from '../harness/wait.ts';

let postgres: Postgres;
let folder: string;
const root = (name: 'right' | 'other') => join(folder, `${name}.pem`);
beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), 'ap-tls-'));
  writeFileSync(root('right'), selfSigned.cert);
  writeFileSync(root('other'), selfSignedAway.cert);
  for (const [name, text] of [
    ['server.crt', selfSigned.cert],
    ['server.key', selfSigned.key],
  ] as const) {
    const path = join(postgres.dataDir, name);
    writeFileSync(path, text, { mode: 0o600 });
    const { uid, gid } = unprivileged();
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }
  await execute(postgres.url, 'alter system set ssl = on');
  await execute(postgres.url, 'select pg_reload_conf()');
  await until(async () => (await query<{ ssl: string }>(postgres.url, 'show ssl'))[0]!.ssl === 'on');
});
afterAll(async () => {
  await postgres?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const urlWith = (parameters: string, host = 'localhost'): string => {
  const url = new URL(postgres.url);
  url.hostname = host;
  return `${url.href}?${parameters}`;
};

test('sslmode=verify-full with sslrootcert: the certificate is checked, and every connection is TLS', async () => {
  const databaseUrl = urlWith(`sslmode=verify-full&sslrootcert=${root('right')}`);
  await using platform = await spawnPlatform({ databaseUrl });
  expect((await fetch(`${platform.url}/readyz`)).status).toBe(200);
  const sessions = await query<{ ssl: boolean }>(
    postgres.url,
    'select ssl from pg_stat_ssl join pg_stat_activity using (pid) where client_addr is not null and pid <> pg_backend_pid()',
  );
  expect(new Set(sessions.map(({ ssl }) => ssl))).toEqual(new Set([true]));
});

test('a certificate that is not trusted, or a file that is missing, ends the start at once and says so', async () => {
  for (const [parameters, why] of [
    [
      `sslmode=verify-full&sslrootcert=${root('other')}`,
      /DATABASE_URL: the certificate of the server is not trusted/,
    ],
    ['sslmode=verify-full', /DATABASE_URL: the certificate of the server is not trusted/],
    ['sslmode=verify-full&sslrootcert=/nowhere.pem', /DATABASE_URL: .*\/nowhere\.pem/],
  ] as const) {
    const platform = await spawnPlatform({ databaseUrl: urlWith(parameters), readyWithinMs: null });
    expect(await platform.exited).toMatchObject({ code: 1 });
    expect(platform.output()).toMatch(why);
    await platform.stop();
  }
});
