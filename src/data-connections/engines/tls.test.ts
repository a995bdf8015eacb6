import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openParts, read, runSql } from '../../../tests/harness/foreign.ts';
import { describeWithMariaDb, type MariaDb, startMariaDb } from '../../../tests/harness/mariadb.ts';
import { type Postgres, startPostgres } from '../../../tests/harness/postgres.ts';
import { unprivileged } from '../../../tests/harness/postgres-binaries.ts';
import { selfSigned } from '../../../tests/harness/self-signed.ts';
import type { Engine } from './engine.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import type { ServerSettings, TlsSettings } from './settings.ts';

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  const as = unprivileged();
  folder = await mkdtemp(join(tmpdir(), 'ap-tls-'));
  await writeFile(file('key.pem'), selfSigned.key, { mode: 0o600 });
  await writeFile(file('cert.pem'), selfSigned.cert);
  // The name in the certificate is also that of a user, whom it certifies.
  await writeFile(
    file('hba.conf'),
    'hostssl all "127.0.0.1" all cert\nhost all "127.0.0.1" all reject\nhost all all all trust\n',
  );
  if ('uid' in as) {
    for (const path of [folder, file('key.pem'), file('cert.pem'), file('hba.conf')]) {
      await chown(path, as.uid, as.gid);
    }
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The certificate is for 127.0.0.1 and localhost, and the server also listens on 127.0.0.2. */
const checkModes = (engine: Engine<ServerSettings>, at: () => ServerSettings): void => {
  const open = async (tls: TlsSettings, more: Partial<ServerSettings> = {}): Promise<string[]> => {
    const parts = openParts();
    const session = await engine.open({ ...at(), tls, ...more }, parts);
    await read(session, 'select 1');
    session.close();
    return parts.progress.steps.map(({ step }) => step);
  };
  const trusting = { mode: 'verify_full', ca: selfSigned.cert } as const;

  test('verify_full accepts the certificate of the host, by name and by address', async () => {
    expect(await open(trusting)).toEqual(['resolve', 'connect', 'tls', 'authenticate']);
    await open(trusting, { host: 'localhost' });
  });

  test.each([
    ['a certificate of no known authority', { mode: 'verify_full' }, {}],
    ['a certificate of another address', trusting, { host: '127.0.0.2' }],
  ] as const)('verify_full refuses %s', async (_what, tls, more) => {
    const refused = open(tls, more);
    await expect(refused).rejects.toMatchObject({ reason: 'tls' });
    await expect(refused).rejects.toThrow(/^TLS failed \([A-Z_]+\)\.$/);
  });

  test('a certificate that was accepted once is checked again for another host', async () => {
    await open(trusting);
    await expect(open(trusting, { host: '127.0.0.2' })).rejects.toMatchObject({ reason: 'tls' });
  });

  test('require encrypts without a check', async () => {
    expect(await open({ mode: 'require' }, { host: '127.0.0.2' })).toContain('tls');
  });
};

describe('PostgreSQL with TLS', () => {
  let server: Postgres;
  let settings: ServerSettings;
  beforeAll(async () => {
    server = await startPostgres({
      settings: {
        ssl: 'on',
        ssl_cert_file: file('cert.pem'),
        ssl_key_file: file('key.pem'),
        ssl_ca_file: file('cert.pem'),
        hba_file: file('hba.conf'),
        listen_addresses: '127.0.0.1,127.0.0.2',
      },
    });
    await runSql(server.url, 'create role "127.0.0.1" login');
    settings = {
      host: '127.0.0.1',
      port: server.port,
      database: 'postgres',
      username: 'postgres',
      tls: { mode: 'disable' },
    };
  });
  afterAll(() => server?.stop());

  checkModes(postgres, () => settings);

  test('a client certificate signs in, and a statement of such a session can be cancelled', async () => {
    const tls = {
      mode: 'verify_full',
      ca: selfSigned.cert,
      client_certificate: selfSigned.cert,
      client_key: selfSigned.key,
    } as const;
    const certified = { ...settings, username: '127.0.0.1' };
    const session = await postgres.open({ ...certified, tls }, openParts());
    const left = new AbortController();
    const running = read(session, 'select pg_sleep(60)', { timeoutMs: 60_000, signal: left.signal });
    const watching = await postgres.open({ ...settings, tls }, openParts());
    const active = async () =>
      (await read(watching, `select count(*) from pg_stat_activity where query = 'select pg_sleep(60)'`))
        .rows[0]![0];
    await expect.poll(active).toBe(1);
    left.abort();
    await expect(running).rejects.toMatchObject({ reason: 'query_failed' });
    await expect.poll(active).toBe(0);
    watching.close();

    for (const mode of ['require', 'disable'] as const) {
      const without = postgres.open({ ...certified, tls: { mode } }, openParts());
      await expect(without).rejects.toMatchObject({ reason: 'authentication' });
    }
  });
});

describeWithMariaDb('MariaDB with TLS', () => {
  let server: MariaDb;
  beforeAll(async () => {
    server = await startMariaDb({
      settings: { 'ssl-cert': file('cert.pem'), 'ssl-key': file('key.pem'), 'bind-address': '*' },
    });
    const root = await server.connect();
    await root.query(`create user reader identified by 'right'`);
    root.destroy();
  });
  afterAll(() => server?.stop());

  checkModes(mysql, () => ({
    host: '127.0.0.1',
    port: server.port,
    database: 'information_schema',
    username: 'reader',
    password: 'right',
    tls: { mode: 'disable' },
  }));
});
