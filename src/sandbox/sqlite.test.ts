import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testServices } from '../../tests/harness/services.ts';
import { readConfig } from '../config.ts';
import { offlineDatabase } from '../database/index.ts';
import { createSandbox } from './index.ts';
import { sqliteQuery } from './jobs/sqlite.ts';
import type { Jobs } from './jobs.ts';

let folder: string;
let path: string;
let sandbox: ReturnType<typeof createSandbox>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-sandbox-'));
  path = join(folder, 'shop.db');
  const database = new DatabaseSync(path);
  database.exec(`
    create table customers(id integer primary key, name varchar(20) not null, email text unique);
    create table orders(
      id integer primary key, customer_id integer not null references customers, amount decimal(10, 2), picture blob,
      big integer, unique (customer_id, amount));
    create table secrets(id integer, word text);
    create view open_secrets as select id, upper(word) as word from secrets where id > 1;
    insert into customers values (1, 'Ada', 'a@x'), (2, 'Grace', null);
    insert into orders values (1, 1, 9.5, null, 9007199254740993), (2, 1, 1, x'00ff', 5);
    insert into secrets values (1, 'closed'), (2, 'open');
    analyze;`);
  database.close();
  sandbox = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR: folder }) }));
  await sandbox.start?.();
});

afterAll(async () => {
  await sandbox.stop?.();
  await rm(folder, { recursive: true, force: true });
});

const limits = { seconds: 20 };
type QueryInput = Jobs['sqliteQuery']['input'];
const inputOf = (sql: string, more: Partial<QueryInput> = {}): QueryInput => ({
  path,
  sql,
  parameters: [],
  tables: ['customers', 'orders'],
  functions: ['count', 'sum', 'upper'],
  maxRows: 100,
  maxBytes: 1e6,
  maxCharacters: 100,
  toFile: false,
  ...more,
});
const query = (sql: string, more: Partial<QueryInput> = {}) =>
  sandbox.run('sqliteQuery', inputOf(sql, more), { limits });

describe('a SQLite file', () => {
  test('is described with its columns, keys and views', async () => {
    const { tables, has_more } = await sandbox.run('sqliteTables', { path, limit: 10 }, { limits });
    expect(has_more).toBe(false);
    expect(tables.map(({ name, kind }) => [name, kind])).toEqual([
      ['customers', 'table'],
      ['open_secrets', 'view'],
      ['orders', 'table'],
      ['secrets', 'table'],
    ]);
    expect(tables[2]).toMatchObject({
      row_estimate: 2,
      primary_key: ['id'],
      unique_keys: [['customer_id', 'amount']],
      foreign_keys: [{ columns: ['customer_id'], to_table: 'customers', to_columns: ['id'] }],
    });
    expect(tables[0]!.columns).toEqual([
      { name: 'id', type: 'INTEGER', nullable: false },
      { name: 'name', type: 'varchar(20)', nullable: false },
      { name: 'email', type: 'TEXT', nullable: true },
    ]);
    const page = await sandbox.run(
      'sqliteTables',
      { path, search: 'ER', after: 'customers', limit: 1 },
      { limits },
    );
    expect([page.tables.map(({ name }) => name), page.has_more]).toEqual([['orders'], false]);
  });

  test('gives rows with bound values, and says what was cut', async () => {
    const answer = await query('select id, amount, picture, big from main.orders where id <= ? order by id', {
      parameters: [{ integer: '2' }],
    });
    expect(answer.rows).toEqual([
      [1, 9.5, null, '9007199254740993'],
      [2, 1, null, 5],
    ]);
    expect(answer.columns[1]).toMatchObject({ name: 'amount', type: 'decimal(10, 2)', table: 'orders' });
    expect([answer.bytes_in, answer.truncated, answer.cut]).toEqual([[2], false, false]);
    const short = await query('select name from main.customers', { maxRows: 1, maxCharacters: 2 });
    expect([short.rows, short.truncated, short.cut]).toEqual([[['Ad']], true, true]);
  });

  test.each([
    ['another table', 'select * from main.secrets'],
    ['a view that is not permitted', 'select * from main.open_secrets'],
    ['the schema', 'select * from sqlite_schema'],
    ['a table-valued function', `select * from pragma_table_info('secrets')`],
    ['another function', 'select hex(name) from main.customers'],
    ['a pragma', 'pragma table_info(secrets)'],
    ['another database', `attach '/etc/passwd' as x`],
    ['a write', 'delete from main.customers'],
    ['a table of its own', 'create temp table x(a)'],
    ['recursion', 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'],
  ])('refuses %s', (_what, sql) => {
    // In this process: what a child would do with it.
    const work = () => sqliteQuery(inputOf(sql));
    expect(work).toThrow(expect.objectContaining({ reason: 'not_permitted' }));
  });

  test('lets a permitted view read the tables behind it, and only so', async () => {
    const tables = ['open_secrets'];
    expect((await query('select * from main.open_secrets', { tables })).rows).toEqual([[2, 'OPEN']]);
    const behind = query('with x as (select word from main.secrets) select * from x', { tables });
    await expect(behind).rejects.toMatchObject({ reason: 'not_permitted' });
  });

  test('tells the case of no name, as SQLite does not', async () => {
    const given = { tables: ['OPEN_Secrets', 'Orders'], functions: ['COUNT'] };
    expect((await query('select * from main.open_SECRETS', given)).rows).toEqual([[2, 'OPEN']]);
    expect((await query('select count(*) from main.open_secrets', given)).rows).toEqual([[1]]);
    expect((await query('select count(*) from main.ORDERS where ID < 3', given)).rows).toEqual([[2]]);
    const cte =
      'with open_secrets as (select id from main.orders where id < 3) select id from open_secrets order by id';
    expect((await query(cte, given)).rows).toEqual([[1], [2]]);
    const hidden = query(
      'with open_secrets as (select id from main.customers) select * from open_secrets',
      given,
    );
    await expect(hidden).rejects.toMatchObject({ reason: 'not_permitted' });
    const listed = await sandbox.run(
      'sqliteTables',
      { path, names: ['ORDERS', 'nope'], limit: 5 },
      { limits },
    );
    expect(listed.tables.map(({ name }) => name)).toEqual(['orders']);
  });

  test('computes decimals with the functions that the platform adds, and says what is no date', async () => {
    const functions = ['to_decimal', 'to_moment', 'unicode_lower', 'decimal_round', 'decimal_mod'];
    const texts =
      "select decimal_round('2.345', 2), decimal_mod('0.3', '0.1'), decimal_round('x', 1) from main.orders limit 1";
    expect((await query(texts, { functions })).rows).toEqual([[2.35, 0, null]]);
    const sql = "select to_decimal(0.1 + 0.2), unicode_lower('Ä'), to_moment(0) from main.orders limit 1";
    expect((await query(sql, { functions })).rows).toEqual([[0.3, 'ä', '1970-01-01T00:00:00.000Z']]);
    const milliseconds = query('select to_moment(1769853600000) from main.orders', { functions });
    await expect(milliseconds).rejects.toMatchObject({
      reason: 'query_failed',
      message: 'A number is no date.',
    });
  });

  test('fails with the message of SQLite, or as unreadable if it is no database', async () => {
    await expect(query('select nope from main.orders')).rejects.toMatchObject({
      reason: 'query_failed',
      message: 'no such column: nope',
    });
    const probe = (file: string) => sandbox.run('sqliteProbe', { path: file }, { limits });
    expect((await probe(path)).version).toMatch(/^3\./);
    for (const file of [import.meta.filename, join(folder, 'nothing.db')])
      await expect(probe(file)).rejects.toMatchObject({ reason: 'unreadable' });
  });

  test('ends at the time limit, and nothing remains', async () => {
    const endless = sandbox.run(
      'sqliteQuery',
      {
        path,
        sql: `select count(*) from ${Array.from({ length: 40 }, (_, i) => `main.orders o${i}`).join(', ')}`,
        parameters: [],
        tables: ['orders'],
        functions: ['count'],
        maxRows: 1,
        maxBytes: 100,
        maxCharacters: 10,
        toFile: false,
      },
      { limits: { seconds: 0.3 } },
    );
    await expect(endless).rejects.toMatchObject({ reason: 'time_limit' });
    expect(await readdir(join(folder, 'sandbox'))).toEqual([]);
  });
});
