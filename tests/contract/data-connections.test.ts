import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { foreignPostgres, runSql, shop } from '../harness/foreign.ts';
import { hasMariaDb, mariaDbNote, sharedMariaDb } from '../harness/mariadb.ts';
import { dropDatabase } from '../harness/postgres.ts';
import {
  expectError,
  type Fixture,
  faults,
  ok,
  onPostgres,
  query,
  setSettings,
  time,
  useReplicas,
  uuid,
  withPlatform,
} from './fixture.ts';

type Foreign = Awaited<ReturnType<typeof foreignPostgres>>;

const path = '/data-connections';
const reader = `shop_reader_${process.pid}`;
let foreign: Foreign;

beforeAll(async () => {
  foreign = await foreignPostgres(
    inject('postgresUrl'),
    ...shop,
    `create role ${reader} login`,
    `grant select on customers, orders to ${reader}`,
    'create table secrets (word text)',
    ...Array.from(
      { length: 3 },
      (_, i) => `create table more_${i} (a integer); grant select on more_${i} to ${reader}`,
    ),
  );
});
afterAll(async () => {
  await dropDatabase(foreign.url);
  await runSql(inject('postgresUrl'), `drop role ${reader}`);
});

const configuration = (more: object = {}) => ({
  ...foreign.settings,
  username: reader,
  password: 'hunter2',
  ...more,
});
const pem = (what: string) => `-----BEGIN ${what}-----\nx\n-----END ${what}-----`;
const body = (more: object = {}, given: object = {}) => ({
  name: 'The shop',
  engine: 'postgres',
  configuration: configuration(given),
  ...more,
});
const create = (at: Fixture, more: object = {}, given: object = {}) =>
  ok(at.api.post(path, body(more, given)));

onPostgres((at) => {
  test('a connection has all but its secrets, is listed by engine and name, and a change leaves its test', async () => {
    const created = await at().api.post(path, body({ description: 'x', tags: ['a', 'b'] }));
    expect(created.status, created.text).toBe(200);
    const { id, ...rest } = created.body;
    expect(rest).toEqual({
      name: 'The shop',
      description: 'x',
      engine: 'postgres',
      configuration: {
        host: foreign.settings.host,
        port: foreign.settings.port,
        database: foreign.settings.database,
        username: reader,
        password_set: true,
        tls: { mode: 'disable', ca: null, client_certificate: null, client_key_set: false },
      },
      tags: ['a', 'b'],
      status: { state: 'ok', checked_at: expect.stringMatching(time), detail: null },
      created_by: expect.any(String),
      created_at: expect.stringMatching(time),
      updated_at: expect.stringMatching(time),
    });
    expect(id).toMatch(uuid);
    expect((await at().api.get(`${path}/${id}`)).body).toEqual(created.body);
    expect(await ok(at().api.post(`${path}/${id}/test`))).toMatchObject({ ok: true });
    const tested = await ok(at().api.get(`${path}/${id}`));
    expect(Date.parse(tested.status.checked_at)).toBeGreaterThan(Date.parse(created.body.status.checked_at));
    expect(tested.updated_at).toBe(created.body.updated_at);

    const list = async (search: string) =>
      (await ok(at().api.get(`${path}?${search}`))).data.map((one: { id: string }) => one.id);
    expect(await list('engine=postgres&name=THE')).toContain(id);
    expect(await list('engine=mysql')).toEqual([]);
    expect(await list('name=shop')).toEqual([]);

    const change = { name: 'Renamed', description: null, tags: null, engine: 'postgres' };
    const renamed = await ok(at().api.patch(`${path}/${id}`, change));
    expect(renamed).toMatchObject({ name: 'Renamed', description: null, tags: [] });

    const [stored] = await at().sql`select settings from data_connections where id = ${id}`;
    expect(stored.settings).toMatch(/^v1\./);
    const entries = await at().sql`select details::text from audits where target_id = ${id}`;
    expect(JSON.stringify(entries)).toMatch(/sha256:/);
    expect(JSON.stringify(entries)).not.toMatch(/hunter2/);
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('PATCH merges the configuration, and another place needs the password again', async () => {
    const { id } = await create(at());
    const patch = (given: object) => at().api.patch(`${path}/${id}`, { configuration: given });
    for (const [field, given] of [
      ['host', { host: 'localhost' }],
      ['port', { port: 1 }],
      ['username', { username: 'postgres' }],
      ['tls', { tls: { mode: 'require' } }],
      ['host', { host: 'localhost', password: null }],
      ['host', { host: 'localhost', password: '' }],
    ] as const) {
      const refused = await patch(given);
      expectError(refused, 422, new RegExp(`because ${field} changes`));
      expect(faults(refused)).toEqual(['configuration.password']);
    }
    // What GET showed changes nothing.
    const shown = await ok(at().api.get(`${path}/${id}`));
    expect((await ok(patch(shown.configuration))).configuration).toEqual(shown.configuration);

    expect((await ok(patch({ host: 'localhost', password: 'again' }))).configuration).toMatchObject({
      host: 'localhost',
      port: foreign.settings.port,
      password_set: true,
    });
    const nowhere = await patch({ database: 'nowhere' });
    expectError(nowhere, 422, /does not exist/, { steps: expect.any(Array) });
    expect((await ok(patch({ database: 'postgres' }))).configuration.database).toBe('postgres');
    expect((await ok(patch({ password: null }))).configuration.password_set).toBe(false);
    expect((await ok(patch({ host: '127.0.0.1' }))).configuration.host).toBe('127.0.0.1');
    expectError(await at().api.patch(`${path}/${id}`, { engine: 'mysql' }), 422, /cannot be changed/);
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('what fails its verification is not stored', async () => {
    const before = await ok(at().api.get(path));
    const refused = await at().api.post(path, body({}, { database: 'nowhere' }));
    expectError(refused, 422, /does not exist/, {
      steps: [
        { step: 'resolve', ok: true, detail: expect.any(String) },
        { step: 'connect', ok: true, detail: expect.any(String) },
        { step: 'authenticate', ok: false, detail: 'The database does not exist.' },
      ],
    });
    expect(faults(refused)).toEqual(['configuration.password']);
    expect(refused.text).not.toMatch(/hunter2/);
    const denied = await at().api.post(path, body({}, { host: '169.254.169.254' }));
    const steps = [expect.objectContaining({ step: 'resolve' })];
    expectError(denied, 422, /EGRESS_DENY/, { steps, reason: 'denied' });
    expect(await ok(at().api.get(path))).toEqual(before);
  });

  test.each([
    [{ host: 'postgres://elsewhere/x' }, 'host'],
    [{ host: '/var/run/postgresql' }, 'host'],
    [{ tls: { ca: 'no certificate' } }, 'tls.ca'],
    [{ tls: { ca: pem('CERTIFICATE') } }, 'tls.ca'],
    [{ tls: { client_key: pem('PRIVATE KEY') } }, 'tls.client_certificate'],
  ])('422 for %j', async (given, name) => {
    const refused = await at().api.post(path, body({}, given));
    expectError(refused, 422);
    expect(faults(refused)).toEqual([`configuration.${name}`]);
  });

  test('an engine of a later version is named, with those of this one', async () => {
    const refused = await at().api.post(path, { name: 'x', engine: 'snowflake', configuration: {} });
    expectError(refused, 422, /is not supported by this version; supported now: postgres, mysql, sqlite/);
  });

  test('a test says which steps passed, and whether the user may write', async () => {
    const tryOut = (more?: object) =>
      ok(at().api.post(`${path}/test`, { engine: 'postgres', configuration: configuration(more) }));
    const steps = ['resolve', 'connect', 'authenticate', 'read_only', 'query'];
    expect(await tryOut()).toEqual({
      ok: true,
      steps: steps.map((step) => ({ step, ok: true, detail: expect.any(String) })),
      server: { product: 'PostgreSQL', version: expect.any(String) },
      writable: false,
      warnings: [],
      latency_ms: expect.any(Number),
    });
    const superuser = { username: 'postgres' };
    const warnings = [{ code: 'writable_credentials' }];
    expect(await tryOut(superuser)).toMatchObject({ ok: true, writable: true, warnings });
    const connection = await create(at(), {}, superuser);
    await setSettings(at(), { REQUIRE_READ_ONLY_CREDENTIALS: true });
    const refused = { length: 4, 3: { step: 'read_only', ok: false } };
    expect(await tryOut(superuser)).toMatchObject({ ok: false, steps: refused });
    const denied = { steps: expect.any(Array), reason: 'denied' };
    expectError(await at().api.post(path, body({}, superuser)), 422, /REQUIRE_READ_ONLY/, denied);
    const tables = await at().api.get(`${path}/${connection.id}/tables`);
    const why = { data_connection_id: connection.id, reason: 'denied' };
    expectError(tables, 412, /may change data/, why);
    await setSettings(at(), { REQUIRE_READ_ONLY_CREDENTIALS: false });
    await ok(at().api.delete(`${path}/${connection.id}`), 204);
    const nowhere = { ok: false, reason: 'denied', steps: [{ step: 'resolve', ok: false }] };
    const unknown = await tryOut({ host: '169.254.169.254' });
    expect(unknown).toMatchObject({ ...nowhere, server: null, writable: null });
  });

  test('tables come in pages, and a table can be previewed', async () => {
    const { id } = await create(at());
    const names = async (search = '') => {
      const { data, next, has_more: more } = await ok(at().api.get(`${path}/${id}/tables?${search}`));
      return { names: data.map((one: { name: string }) => one.name), next, more };
    };
    const every = ['customers', 'more_0', 'more_1', 'more_2', 'orders'];
    expect(await names()).toEqual({ names: every, next: '', more: false });
    const first = await names('limit=2');
    expect(first).toMatchObject({ names: ['customers', 'more_0'], more: true });
    expect(await names(`limit=2&next=${first.next}`)).toMatchObject({ names: ['more_1', 'more_2'] });
    expect(await names('search=ORDER&schema=public')).toMatchObject({ names: ['orders'] });
    expect(await names('schema=pg_catalog')).toMatchObject({ names: [] });

    const preview = (more: object) => at().api.post(`${path}/${id}/preview`, { table: 'orders', ...more });
    expect(await ok(preview({ limit: 2 }))).toEqual({
      columns: [
        { name: 'id', datatype: 'Integer' },
        { name: 'customer_id', datatype: 'Integer' },
        { name: 'amount', datatype: 'Decimal' },
        { name: 'placed_on', datatype: 'Date' },
      ],
      rows: [
        [1, 1, 12.5, '2026-01-31'],
        [2, 1, 0.1, '2026-02-01'],
      ],
      truncated: true,
      warnings: [],
    });
    expect(await ok(preview({ schema: 'public' }))).toMatchObject({ rows: { length: 3 }, truncated: false });
    for (const table of ['secrets', 'orders"; drop table orders; --', 'nothing']) {
      const refused = await preview({ table });
      expectError(refused, 422);
      expect(faults(refused)).toEqual(['table']);
    }
    expectError(await preview({ schema: 'pg_catalog', table: 'pg_authid' }), 422);
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('a database that is away is 412, and shows in the status; the revision stays', async () => {
    const own = await foreignPostgres(inject('postgresUrl'), 'create table t (a integer)');
    const given = { ...own.settings, password: 'hunter2' };
    const { id } = await ok(at().api.post(path, { name: 'x', engine: 'postgres', configuration: given }));
    await ok(at().api.get(`${path}/${id}/tables`));
    await dropDatabase(own.url);
    const away = { data_connection_id: id, reason: 'authentication' };
    expectError(await at().api.get(`${path}/${id}/tables`), 412, /does not exist/, away);
    expectError(await at().api.post(`${path}/${id}/preview`, { table: 't' }), 412, /./, away);
    const after = await at().api.get(`${path}/${id}`);
    expect(after.headers.get('etag')).toBe('"1"');
    expect(after.body.status).toMatchObject({ state: 'unreachable', detail: 'The database does not exist.' });
    expect(after.body.updated_at).toBe(after.body.created_at);
    expect(await ok(at().api.post(`${path}/${id}/test`))).toMatchObject({ ok: false });
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('the number of connections is limited, also for creates at the same time', async () => {
    const { data } = await ok(at().api.get(path));
    await setSettings(at(), { MAX_DATA_CONNECTIONS: data.length + 1 });
    const answers = await Promise.all([at().api.post(path, body()), at().api.post(path, body())]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const refused = answers.find(({ status }) => status === 400)!;
    expectError(refused, 400, /maximum/, { setting: 'MAX_DATA_CONNECTIONS' });
    await setSettings(at(), { MAX_DATA_CONNECTIONS: 100 });
  });

  test('while a database keeps silent, nothing of the platform waits', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    const { port } = silent.address() as { port: number };
    const waiting = Array.from({ length: 20 }, () => at().api.post(path, body({}, { port })));
    await expect.poll(() => sockets.length).toBe(20);
    const busy = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    // A transaction of a loop is idle for a moment, and not for as long as the database is silent.
    if (at().db.kind === 'postgres') await expect.poll(() => query(at(), busy)).toEqual([{ count: 0 }]);
    await create(at(), { name: 'in the meantime' });
    for (const socket of sockets) socket.destroy();
    for (const response of await Promise.all(waiting)) {
      expectError(response, 422, /does not let the user in/, { steps: expect.any(Array) });
    }
    await new Promise((closed) => silent.close(closed));
  });
});

describe('the other engines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ap-sqlite-dir-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  withPlatform(
    'postgres',
    (at) => {
      const checkShop = async (given: object, schema: string): Promise<void> => {
        const { id, engine } = await ok(at().api.post(path, { name: 'x', ...given }));
        const { data } = await ok(at().api.get(`${path}/${id}/tables?schema=${schema}&search=orders`));
        expect(data, engine).toMatchObject([{ name: 'orders', foreign_keys: [{ to_table: 'customers' }] }]);
        const preview = await ok(at().api.post(`${path}/${id}/preview`, { table: 'orders', limit: 1 }));
        expect(preview).toMatchObject({ rows: [[1, 1, 12.5, '2026-01-31']], truncated: true });
        await ok(at().api.delete(`${path}/${id}`), 204);
      };

      test('SQLite files are read below SQLITE_DIR only', async () => {
        const database = new DatabaseSync(join(folder, 'shop.db'));
        for (const statement of shop) database.exec(statement);
        database.close();
        await checkShop({ engine: 'sqlite', configuration: { path: 'shop.db' } }, 'main');
        const outside = { name: 'x', engine: 'sqlite', configuration: { path: '../../etc/passwd' } };
        const refused = await at().api.post(path, outside);
        const steps = [expect.objectContaining({ step: 'resolve' })];
        expectError(refused, 422, /SQLITE_DIR/, { steps, reason: 'denied' });
        expect(faults(refused)).toEqual(['configuration.path']);
      });

      test.skipIf(!hasMariaDb)(`MariaDB is read${mariaDbNote}`, async () => {
        const { host, port, user, createDatabase, connect } = await sharedMariaDb();
        const database = await createDatabase();
        const connection = await connect({ database });
        for (const statement of shop) await connection.query(statement);
        connection.destroy();
        const configuration = { host, port, username: user, database, tls: { mode: 'disable' } };
        await checkShop({ engine: 'mysql', configuration }, database);
      });
    },
    { SQLITE_DIR: folder },
  );
});

describe('on two replicas', () => {
  let a: Fixture;
  let b: Fixture;
  let ownUrl: URL;
  useReplicas((first, second, env) => {
    a = first;
    b = second;
    ownUrl = new URL(env.DATABASE_URL!);
  });

  /** How many sessions the platform has open at the database of the shop. */
  const sessions = async (): Promise<number> => {
    const statement = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = ${foreign.settings.database}`;
    return (await query(a, statement))[0].count;
  };

  test('an edit and a deletion close the sessions of every replica', async () => {
    const { id } = await create(a);
    const tables = (at: Fixture) => ok(at.api.get(`${path}/${id}/tables`));
    await Promise.all([tables(a), tables(b)]);
    await expect.poll(sessions).toBe(2);
    await ok(a.api.patch(`${path}/${id}`, { name: 'Edited' }));
    await expect.poll(sessions).toBe(0);
    await Promise.all([tables(a), tables(b)]);
    await ok(b.api.delete(`${path}/${id}`), 204);
    await expect.poll(sessions).toBe(0);
    expectError(await a.api.get(`${path}/${id}/tables`), 404);
  });

  test("the platform's own database is no data connection, under any name", async () => {
    const { port, pathname } = ownUrl;
    const own = configuration({ port: Number(port), database: pathname.slice(1), username: 'postgres' });
    for (const host of ['127.0.0.1', 'localhost']) {
      const given = { engine: 'postgres', configuration: { ...own, host } };
      const detail = "This is the platform's own database, which cannot be used.";
      const tested = await ok(a.api.post(`${path}/test`, given));
      expect(tested).toMatchObject({ ok: false, steps: [{ step: 'resolve', ok: false, detail }] });
      const denied = { steps: expect.any(Array), reason: 'denied' };
      expectError(await a.api.post(path, { name: 'x', ...given }), 422, /own database/, denied);
    }
  });
});
