import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openParts, read, shop } from '../../../tests/harness/foreign.ts';
import { testServices } from '../../../tests/harness/services.ts';
import { readConfig } from '../../config.ts';
import { offlineDatabase } from '../../database/index.ts';
import { createSandbox } from '../../sandbox/index.ts';
import type { Engine } from './engine.ts';
import type { FileSettings } from './settings.ts';
import { createSqlite } from './sqlite.ts';

let base: string;
let sandbox: ReturnType<typeof createSandbox>;
let sqlite: Engine<FileSettings>;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'ap-sqlite-'));
  const folder = join(base, 'databases');
  await mkdir(join(folder, 'inside'), { recursive: true });
  for (const path of [join(folder, 'inside', 'shop.db'), join(base, 'outside.db')]) {
    const database = new DatabaseSync(path);
    for (const statement of shop) database.exec(statement);
    database.exec(
      `create table odd ("a ""column" bool, at datetime, size real, any_value, picture blob, big integer);
       insert into odd values (1, '2026-01-31 08:00:00', 1.5, 'x', x'00ff', 9007199254740993)`,
    );
    database.close();
  }
  await writeFile(join(folder, 'text.db'), 'SQLite format 3, but not really');
  await symlink(join(base, 'outside.db'), join(folder, 'link.db'));
  await symlink(base, join(folder, 'linked'));
  await symlink(join(folder, 'inside', 'shop.db'), join(folder, 'inner-link.db'));
  sandbox = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR: base }) }));
  await sandbox.start?.();
  sqlite = createSqlite(sandbox, folder);
});
afterAll(async () => {
  await sandbox.stop?.();
  await rm(base, { recursive: true, force: true });
});

const open = (path: string) => sqlite.open({ path }, openParts());

test('a file is read with the datatypes that it declares', async () => {
  const session = await open('inside/shop.db');
  expect(session.server.product).toBe('SQLite');
  const found = await read(session, 'select * from main.odd', {
    permitted: { tables: ['odd'], functions: [] },
  });
  expect(found.rows).toEqual([[true, '2026-01-31T08:00:00', 1.5, 'x', null, '9007199254740993']]);
  expect(found.columns.map(({ datatype }) => datatype)).toEqual([
    ...['Boolean', 'DateTime', 'Float', 'String', 'Opaque', 'Integer'],
  ]);
  expect(found.warnings.map(({ code }) => code)).toEqual(['bytes_left_out']);
  const limited = await read(session, 'select id from main.orders where amount > ? order by id', {
    parameters: [0],
    limit: 1,
    permitted: { tables: ['orders'], functions: [] },
  });
  expect(limited).toMatchObject({ rows: [[1]], truncated: true });
  expect([await session.isReadOnly(), await session.isWritable()]).toEqual([true, false]);
});

test('a time is written the same, whatever the file has', async () => {
  const session = await open('inside/shop.db');
  const times =
    "select * from (values ('08:30'), ('08:30:00.000'), ('08:30:00.250'), ('08:30:10+02'), ('soon'), (null))";
  const permitted = { tables: [], functions: [] };
  const { rows } = await read(session, times, { permitted, datatypes: ['Time'] });
  expect(rows.flat()).toEqual(['08:30:00', '08:30:00', '08:30:00.25', '08:30:10+02', 'soon', null]);
});

test('a whole number that is too large for SQLite is refused, which would go on with a double', async () => {
  const session = await open('inside/shop.db');
  const permitted = { tables: ['odd'], functions: [] };
  const datatypes = ['Integer'] as const;
  const sum = await read(session, 'select big + 1 from main.odd', { permitted, datatypes });
  expect(sum.rows).toEqual([['9007199254740994']]);
  const product = read(session, 'select big * 2000 from main.odd', { permitted, datatypes });
  await expect(product).rejects.toMatchObject({ reason: 'query_failed', message: /too large/ });
});

test('only what is permitted can be read, and failures quote no SQL', async () => {
  const session = await open('inner-link.db');
  const permitted = { tables: ['orders'], functions: ['count'] };
  for (const sql of [
    'select * from main.customers',
    'select upper(1)',
    'delete from main.orders',
    'attach "x" as y',
  ]) {
    await expect(read(session, sql, { permitted }), sql).rejects.toMatchObject({ reason: 'query_failed' });
  }
  const unknown = read(session, 'select hunter2 from main.orders', { permitted });
  await expect(unknown).rejects.toThrow('A column does not exist.');
  const slow = `select count(*) from ${Array.from({ length: 20 }, (_, i) => `main.orders o${i}`).join(', ')}`;
  await expect(read(session, slow, { permitted, timeoutMs: 300 })).rejects.toMatchObject({
    reason: 'timeout',
  });
});

test('rows can be taken in batches, also those that are too many for a reply of the child', async () => {
  new DatabaseSync(join(base, 'databases', 'many.db')).exec(`create table numbers (i integer);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into numbers select i from n`);
  const session = await open('many.db');
  const numbers = 'select i, 9007199254740993, hex(zeroblob(4500)) from main.numbers order by i';
  const permitted = { tables: ['numbers'], functions: ['hex', 'zeroblob'] };
  const batches: number[] = [];
  const taken: unknown[] = [];
  const given = { permitted, limit: 4_800, maxCharacters: 9_001 };
  const { rows, truncated, columns } = await read(session, numbers, {
    ...given,
    onRows: async (batch) => {
      batches.push(batch.length);
      taken.push(
        ...batch.map(([i, wide, text]) =>
          wide === '9007199254740993' && String(text).length === 9_000 ? i : null,
        ),
      );
    },
  });
  expect({ rows, truncated, datatypes: columns.map(({ datatype }) => datatype) }).toEqual({
    rows: [],
    truncated: true,
    datatypes: ['Integer', 'Integer', 'String'],
  });
  expect(taken).toEqual(Array.from({ length: 4_800 }, (_, i) => i + 1));
  expect(batches.length).toBeGreaterThan(20);
  const full = new Error('the disk is full');
  await expect(read(session, numbers, { ...given, onRows: () => Promise.reject(full) })).rejects.toBe(full);
});

test('the catalog lists tables with their keys', async () => {
  const session = await open('inside/shop.db');
  const { tables, more } = await sqlite.listTables(session, { limit: 2 });
  expect(more).toBe(true);
  expect(tables.map(({ schema, name }) => `${schema}.${name}`)).toEqual(['main.customers', 'main.odd']);
  const after = { schema: 'main', name: 'odd' };
  const [orders] = (await sqlite.listTables(session, { limit: 2, after })).tables;
  expect(orders).toMatchObject({
    name: 'orders',
    foreign_keys: [
      { to_schema: 'main', to_table: 'customers', columns: ['customer_id'], to_columns: ['id'] },
    ],
  });
  expect(orders!.columns.map(({ datatype }) => datatype)).toEqual(['Integer', 'Integer', 'Decimal', 'Date']);
  expect(await sqlite.listTables(session, { limit: 2, schema: 'temp' })).toEqual({ tables: [], more: false });
  const named = await sqlite.listTables(session, { limit: 2, names: ['odd', 'even'] });
  expect(named.tables.map(({ name }) => name)).toEqual(['odd']);
});

test.each([
  ['../outside.db', 'denied'],
  ['inside/../../outside.db', 'denied'],
  ['..\\outside.db', 'denied'],
  ['/etc/passwd', 'denied'],
  ['link.db', 'denied'],
  ['linked/outside.db', 'denied'],
  ['nothing.db', 'unreachable'],
  ['inside', 'unreachable'],
  ['text.db', 'unreachable'],
  ['.', 'denied'],
])('the path %s is %s', async (path, reason) => {
  const failing = open(path);
  await expect(failing).rejects.toMatchObject({ reason });
  await expect(failing).rejects.not.toThrow(base);
});

test('a file that is replaced by a link out of the folder is not read', async () => {
  const path = join(base, 'databases', 'moving.db');
  new DatabaseSync(path).exec('create table t (a); ');
  const session = await open('moving.db');
  await rename(path, `${path}.old`);
  await symlink(join(base, 'outside.db'), path);
  const permitted = { tables: ['orders'], functions: [] };
  await expect(read(session, 'select * from main.orders', { permitted })).rejects.toMatchObject({
    reason: 'denied',
  });
});
