import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { foreignPostgres, openParts, read, runSql, shop } from '../../../tests/harness/foreign.ts';
import { dropDatabase } from '../../../tests/harness/postgres.ts';
import type { Session } from './engine.ts';
import { postgres } from './postgres.ts';
import type { ServerSettings } from './settings.ts';

let foreign: { url: string; settings: ServerSettings };
let session: Session;
const reader = `reader_${process.pid}`;

beforeAll(async () => {
  foreign = await foreignPostgres(
    inject('postgresUrl'),
    ...shop,
    'create schema "Odd ""one"""',
    `create type mood as enum ('sad', 'happy')`,
    'create domain amount as numeric(5, 1)',
    `create table "Odd ""one"""."a table" (k mood, d amount, "a ""column" text, primary key (k, d))`,
    'create view big_orders as select * from orders where amount > 1',
    `comment on table orders is 'What was bought'`,
    `comment on column orders.amount is 'In euros'`,
    'create table secrets (word text)',
    'create table partly (open integer, closed text)',
    'analyze customers',
    `create role ${reader} login password 'right'`,
    `grant select on customers, big_orders to ${reader}`,
    `grant select (open) on partly to ${reader}`,
    // A role may have defaults of its own, which must not decide what a statement means.
    `alter role ${reader} set standard_conforming_strings = off`,
    `alter role ${reader} set datestyle = 'German'`,
    `alter role ${reader} set timezone = 'Asia/Tokyo'`,
    `alter role ${reader} set search_path = pg_temp, public`,
  );
  session = await postgres.open(foreign.settings, openParts());
});
afterAll(async () => {
  session?.close();
  await dropDatabase(foreign.url);
  await runSql(inject('postgresUrl'), `drop role ${reader}`);
});

const asReader = (more: Partial<ServerSettings> = {}) =>
  postgres.open({ ...foreign.settings, username: reader, password: 'right', ...more }, openParts());

test('values are what the API promises, whatever the defaults of the role', async () => {
  const other = await asReader();
  const { columns, rows, warnings } = await read(
    other,
    `select 9007199254740993::bigint, 5::smallint, 12.50::numeric, 12345678901234567890.1::numeric, 'NaN'::numeric,
      0.1::real, 'NaN'::float8, 'Infinity'::float8, true, date '2026-01-31', time '08:00:00.50',
      timestamp '2026-01-31 08:00:00.500', timestamptz '2026-01-31 08:00:00+09', '\\n', '{"a": 1}'::jsonb,
      '\\x00ff'::bytea, repeat('ä', 10001), null::integer, array[1, 2]`,
  );
  other.close();
  expect(rows[0]!.map((value) => (typeof value === 'string' ? value.slice(0, 40) : value))).toEqual([
    '9007199254740993',
    5,
    12.5,
    '12345678901234567890.1',
    null,
    0.1,
    null,
    null,
    true,
    '2026-01-31',
    '08:00:00.5',
    '2026-01-31T08:00:00.5',
    '2026-01-30T23:00:00Z',
    '\\n',
    '{"a": 1}',
    null,
    'ä'.repeat(40),
    null,
    '{1,2}',
  ]);
  expect(rows[0]![16]).toHaveLength(10_000);
  expect(warnings.map(({ code }) => code)).toEqual(['bytes_left_out', 'text_cut']);
  expect(columns.map(({ datatype }) => datatype)).toEqual([
    ...['Integer', 'Integer', 'Decimal', 'Decimal', 'Decimal', 'Float', 'Float', 'Float', 'Boolean', 'Date'],
    ...['Time', 'DateTime', 'DateTimeTz', 'String', 'Opaque', 'Opaque', 'String', 'Integer', 'Opaque'],
  ]);
});

test('parameters are bound, and a limit says whether there is more', async () => {
  const injected = `'; drop table orders; --`;
  const found = await read(session, 'select $1::text', { parameters: [injected] });
  expect(found.rows).toEqual([[injected]]);
  const numbers = (limit: number) => read(session, 'select * from generate_series(1, 1500)', { limit });
  expect(await numbers(1_500)).toMatchObject({ truncated: false, rows: { length: 1_500 } });
  expect(await numbers(1_499)).toMatchObject({ truncated: true, rows: { length: 1_499 } });
  const large = await read(session, `select repeat('x', 10000) from generate_series(1, 3000)`, {
    limit: 5_000,
  });
  expect(large.truncated).toBe(true);
  expect(JSON.stringify(large.rows).length).toBeLessThan(10 * 1024 * 1024);
  expect(await read(session, 'select 1 where false')).toMatchObject({ rows: [], columns: { length: 1 } });
});

test.each([
  ['two statements', 'select 1; select 2'],
  ['a commit and a write', 'commit; drop table public.orders'],
  ['a write', 'insert into public.customers values (9)'],
  ['a table of its own', 'create table public.x (a integer)'],
  ['a writing function', `select lo_create(0)`],
  ['a sequence', `select nextval('public.s')`],
  ['another search path', 'select * from orders'],
])('%s fails, and changes nothing', async (_what, sql) => {
  await runSql(foreign.url, 'create sequence if not exists s');
  await expect(read(session, sql)).rejects.toMatchObject({ reason: 'query_failed' });
  const { rows } = await read(session, 'select count(*) from public.customers');
  expect(rows).toEqual([[2]]);
});

test('what a transaction could set for the session is gone with it', async () => {
  await read(session, `select set_config('transaction_read_only', 'off', false)`).catch(() => {});
  await read(session, `select set_config('search_path', 'public', false)`);
  expect(await session.isReadOnly()).toBe(true);
  await expect(read(session, 'select * from orders')).rejects.toMatchObject({ reason: 'query_failed' });
});

test('the message of a failure quotes neither values nor SQL', async () => {
  const failing = read(session, `select ('hunter2' || name)::integer from public.customers`);
  await expect(failing).rejects.toThrow('A value does not have the form of its type (22P02).');
});

test('a slow statement ends at its limit, and one whose caller leaves is cancelled on the server', async () => {
  const slow = read(session, 'select pg_sleep(60)', { timeoutMs: 50 });
  await expect(slow).rejects.toMatchObject({ reason: 'timeout' });
  expect(session.broken).toBe(false);

  const left = new AbortController();
  const other = await postgres.open(foreign.settings, openParts());
  const running = read(other, `select pg_sleep(60) as the_cancelled_one`, {
    timeoutMs: 60_000,
    signal: left.signal,
  });
  const active = async () =>
    (
      await read(
        session,
        `select count(*) from pg_stat_activity where query like '%the_cancelled_' || 'one%' and state = 'active'`,
      )
    ).rows[0]![0];
  await expect.poll(active).toBe(1);
  left.abort();
  await expect(running).rejects.toMatchObject({ reason: 'query_failed' });
  expect(other.broken).toBe(true);
  await expect.poll(active).toBe(0);
});

test('the catalog lists what the user may read, with keys and comments', async () => {
  const list = await postgres.listTables(session, { limit: 10 });
  expect(list.tables.map(({ schema, name, kind }) => `${schema}.${name} ${kind}`)).toEqual([
    'Odd "one".a table table',
    'public.big_orders view',
    'public.customers table',
    'public.orders table',
    'public.partly table',
    'public.secrets table',
  ]);
  const [odd, , customers, orders] = list.tables;
  expect(odd).toMatchObject({
    primary_key: ['k', 'd'],
    columns: [
      { name: 'k', datatype: 'String', nullable: false },
      { name: 'd', datatype: 'Decimal' },
      { name: 'a "column', type: 'text', datatype: 'String', nullable: true },
    ],
  });
  expect(customers).toMatchObject({ row_estimate: 2, unique_keys: [['email']], comment: null });
  expect(orders).toMatchObject({
    comment: 'What was bought',
    row_estimate: null,
    foreign_keys: [
      { columns: ['customer_id'], to_schema: 'public', to_table: 'customers', to_columns: ['id'] },
    ],
  });
  expect(orders!.columns[2]).toEqual({
    name: 'amount',
    type: 'numeric(10,2)',
    datatype: 'Decimal',
    nullable: true,
    comment: 'In euros',
  });

  const page = await postgres.listTables(session, {
    limit: 1,
    after: { schema: 'public', name: 'customers' },
  });
  expect(page).toMatchObject({ more: true, tables: [{ name: 'orders' }] });
  const part = await postgres.listTables(session, { limit: 10, search: 'ORDERS', schema: 'public' });
  expect(part.tables.map(({ name }) => name)).toEqual(['big_orders', 'orders']);
  const named = await postgres.listTables(session, { limit: 10, names: ['orders', 'order'] });
  expect(named.tables.map(({ name }) => name)).toEqual(['orders']);
});

test('a user sees only the tables and columns that it may read; whether it may write is read from privileges', async () => {
  const other = await asReader();
  const { tables } = await postgres.listTables(other, { limit: 10 });
  expect(tables.map(({ name, columns }) => [name, columns.length])).toEqual([
    ['big_orders', 4],
    ['customers', 3],
    ['partly', 1],
  ]);
  expect(await other.isWritable()).toBe(false);
  expect(await session.isWritable()).toBe(true);
  await runSql(foreign.url, `grant truncate on secrets to ${reader}`);
  expect(await other.isWritable()).toBe(true);
  other.close();
});

test('signing in fails with a reason and without the password', async () => {
  // The server of the tests trusts everyone, so a role that does not exist stands for a wrong password.
  const failing = asReader({ username: 'nobody', password: 'hunter2' });
  await expect(failing).rejects.toMatchObject({ reason: 'authentication' });
  await expect(failing).rejects.not.toThrow(/hunter2/);
  await expect(asReader({ database: 'nowhere' })).rejects.toMatchObject({ reason: 'authentication' });
  await expect(asReader({ port: 1 })).rejects.toMatchObject({ reason: 'unreachable' });
  await expect(asReader({ tls: { mode: 'require' } })).rejects.toMatchObject({ reason: 'tls' });
});

test('rows can be taken in batches, in their order, as many as there are', async () => {
  const batches: number[] = [];
  const taken: unknown[] = [];
  const { rows, truncated, columns } = await read(
    session,
    `select i, repeat('x', 9000) from generate_series(1, 2500) as i`,
    {
      limit: 2_400,
      onRows: async (batch) => {
        batches.push(batch.length);
        taken.push(...batch.map(([i]) => i));
      },
    },
  );
  expect({ rows, truncated, columns: columns.length }).toEqual({ rows: [], truncated: true, columns: 2 });
  expect(taken).toEqual(Array.from({ length: 2_400 }, (_, i) => i + 1));
  expect(batches.length).toBeGreaterThan(1);
  // 80 MB: more than may come at once, in chunks of a few rows.
  const lengths: number[] = [];
  await read(session, "select repeat('x', 1000000) from generate_series(1, 80)", {
    onRows: async (batch) => void lengths.push(batch.length),
  });
  expect(lengths.reduce((sum, length) => sum + length)).toBe(80);
  expect(Math.max(...lengths.slice(1))).toBeLessThan(10);
  const other = await postgres.open(foreign.settings, openParts());
  const full = new Error('the disk is full');
  const failing = read(other, 'select generate_series(1, 10000)', {
    limit: 9_000,
    onRows: () => Promise.reject(full),
  });
  await expect(failing).rejects.toBe(full);
  expect(other.broken).toBe(true);
});
