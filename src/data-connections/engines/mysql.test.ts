import type { Connection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openParts, read, shop } from '../../../tests/harness/foreign.ts';
import { describeWithMariaDb, type MariaDb, sharedMariaDb } from '../../../tests/harness/mariadb.ts';
import type { Session } from './engine.ts';
import { mysql } from './mysql.ts';
import type { ServerSettings } from './settings.ts';

describeWithMariaDb('MariaDB', () => {
  let server: MariaDb;
  let root: Connection;
  let settings: ServerSettings;
  let session: Session;

  beforeAll(async () => {
    server = await sharedMariaDb();
    const database = await server.createDatabase();
    root = await server.connect({ database });
    const statements = [
      ...shop,
      'create table `a "table` (`a ``column` varchar(5), e enum("sad", "happy"), t tinyint(1), primary key (t, e))',
      'create view big_orders as select * from orders where amount > 1',
      `alter table orders comment = 'What was bought', modify amount decimal(10, 2) comment 'In euros'`,
      'create table secrets (word text)',
      'create table partly (open integer, closed text, unique (closed(5)))',
      'create table orphans (customer_id integer, foreign key (customer_id) references customers (id))',
      'drop user if exists reader',
      `create user reader identified by 'right'`,
      `grant select on ${database}.customers to reader`,
      `grant select on ${database}.orphans to reader`,
      `grant select (open) on ${database}.partly to reader`,
    ];
    for (const statement of statements) await root.query(statement);
    settings = {
      host: server.host,
      port: server.port,
      database,
      username: 'reader',
      password: 'right',
      tls: { mode: 'disable' },
    };
    session = await open({ username: 'root', password: undefined });
  });
  afterAll(async () => {
    session?.close();
    root?.destroy();
  });

  const open = (more: Partial<ServerSettings> = {}) => mysql.open({ ...settings, ...more }, openParts());

  test('dates without a year, month or day are null, with a warning', async () => {
    const statements = [
      "set session sql_mode = ''",
      'create table odd_days (d date, at datetime)',
      "insert into odd_days values ('0000-00-00', '0000-00-00 00:00:00'), ('2026-02-00', '2026-00-01 10:00:00'), ('2026-02-01', null)",
    ];
    for (const statement of statements) await root.query(statement);
    const { rows, warnings } = await read(session, 'select d, at from odd_days order by d desc');
    expect(rows).toEqual([
      ['2026-02-01', null],
      [null, null],
      [null, null],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['invalid_date', 'invalid_date']);
    await root.query('drop table odd_days');
  });

  test('values are what the API promises', async () => {
    expect(session.server).toEqual({ product: 'MariaDB', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    const { columns, rows, warnings } = await read(
      session,
      `select cast('9007199254740993' as signed), 5, 12.50, 12345678901234567890.1, cast(0.1 as float), 1e300,
        t, date '2026-01-31', time '08:00:00', timestamp '2026-01-31 08:00:00.500', e, '\\n', x'00ff',
        repeat('ä', 10001), null, "a \`column", "a"
        from "a ""table" right join (select 'x' as "a") as x on true`,
    );
    expect(rows[0]!.map((value) => (typeof value === 'string' ? value.slice(0, 40) : value))).toEqual([
      ...['9007199254740993', 5, 12.5, '12345678901234567890.1', 0.1, 1e300, null, '2026-01-31', '08:00:00'],
      ...['2026-01-31T08:00:00.5', null, '\\n', null, 'ä'.repeat(40), null, null, 'x'],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['bytes_left_out', 'text_cut']);
    expect(columns.slice(0, 12).map(({ datatype }) => datatype)).toEqual([
      ...[
        'Integer',
        'Integer',
        'Decimal',
        'Decimal',
        'Float',
        'Float',
        'Boolean',
        'Date',
        'Time',
        'DateTime',
      ],
      ...['String', 'String'],
    ]);
  });

  test('a column may have values of the datatype that the caller knows', async () => {
    const found = await read(session, `select 1, 0, x'e697a5'`, {
      datatypes: ['Boolean', 'Boolean', 'String'],
    });
    expect(found.rows).toEqual([[true, false, '日']]);
  });

  test('parameters are bound, and a limit says whether there is more', async () => {
    const injected = `'; drop table orders; -- \\`;
    const found = await read(session, 'select ?', { parameters: [injected] });
    expect(found.rows).toEqual([[injected]]);
    const numbers = (limit: number) =>
      read(session, 'select seq from information_schema.columns, seq_1_to_1500 limit 1500', { limit });
    expect(await numbers(1_500)).toMatchObject({ truncated: false, rows: { length: 1_500 } });
    expect(await numbers(1_499)).toMatchObject({ truncated: true, rows: { length: 1_499 } });
    const other = await open({ username: 'root', password: undefined });
    const large = await read(other, `select repeat('x', 10000) from seq_1_to_3000`, { limit: 5_000 });
    expect(large.truncated).toBe(true);
    expect(JSON.stringify(large.rows).length).toBeLessThan(10 * 1024 * 1024);
    other.close();
    expect(await read(session, 'select 1 from dual where false')).toMatchObject({
      rows: [],
      columns: { length: 1 },
    });
  });

  test('rows can be taken in batches, in their order, as many as there are', async () => {
    const batches: number[] = [];
    const taken: unknown[] = [];
    const { rows, truncated } = await read(session, `select seq, repeat('x', 9000) from seq_1_to_2500`, {
      limit: 2_400,
      onRows: async (batch) => {
        batches.push(batch.length);
        taken.push(...batch.map(([i]) => i));
        await new Promise(setImmediate);
      },
    });
    expect([rows, truncated]).toEqual([[], true]);
    expect(taken).toEqual(Array.from({ length: 2_400 }, (_, i) => i + 1));
    // A batch has about 1 MB.
    expect(batches.length).toBeGreaterThan(20);
    const other = await open({ username: 'root', password: undefined });
    const full = new Error('the disk is full');
    const failing = read(other, 'select seq from seq_1_to_5000', {
      limit: 4_000,
      onRows: () => Promise.reject(full),
    });
    await expect(failing).rejects.toBe(full);
    expect(other.broken).toBe(true);
  });

  test('the same statement can be read twice', async () => {
    for (let time = 0; time < 2; time++) {
      expect(
        (await read(session, 'select id from orders where amount > ?', { parameters: [1] })).rows,
      ).toEqual([[1]]);
    }
  });

  test.each([
    ['two statements', 'select 1; select 2'],
    ['a write', `insert into customers values (9, 'x', null)`],
    ['a table of its own', 'create table x (a integer)'],
    ['a file of the client', `load data local infile '/etc/passwd' into table secrets`],
    ['a file of the server', `select 1 into outfile '/tmp/x'`],
    ['text in double quotes', 'select "no column"'],
    ['an aggregate next to a column', 'select amount, count(*) from orders'],
  ])('%s fails, and changes nothing', async (_what, sql) => {
    const other = await open();
    await expect(read(other, sql)).rejects.toMatchObject({ reason: 'query_failed' });
    other.close();
    expect((await read(session, 'select count(*) from customers')).rows).toEqual([[2]]);
  });

  test('the session is read-only', async () => {
    expect(await session.isReadOnly()).toBe(true);
    await expect(read(session, 'delete from orders')).rejects.toThrow('The query would change data (1792).');
  });

  test('a slow statement ends at its limit, and one whose caller leaves is killed', async () => {
    const slow = read(session, 'select count(*) from seq_1_to_1000000000 where rand() < 2', {
      timeoutMs: 100,
    });
    await expect(slow).rejects.toMatchObject({ reason: 'timeout' });
    expect(session.broken).toBe(false);

    const left = new AbortController();
    const other = await open();
    const running = read(other, 'select sleep(60) as the_cancelled_one', {
      timeoutMs: 60_000,
      signal: left.signal,
    });
    const active = async () => {
      const [rows] = await root.query<never[]>('show full processlist');
      return rows.filter(({ Info }) => /the_cancelled_one/.test(Info ?? '')).length;
    };
    await expect.poll(active).toBe(1);
    left.abort();
    await expect(running).rejects.toMatchObject({ reason: 'query_failed' });
    await expect.poll(active).toBe(0);
  });

  test('the catalog lists what the user may read, with keys and comments', async () => {
    const schema = settings.database;
    const { tables } = await mysql.listTables(session, { limit: 10, schema });
    expect(tables.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'a "table table',
      'big_orders view',
      'customers table',
      'orders table',
      'orphans table',
      'partly table',
      'secrets table',
    ]);
    const [odd, view, customers, orders, orphans, partly] = tables;
    expect(odd).toMatchObject({
      primary_key: ['t', 'e'],
      columns: [{ name: 'a `column' }, { datatype: 'String', nullable: false }, { datatype: 'Boolean' }],
    });
    expect(view!.comment).toBeNull();
    expect(customers!.unique_keys).toEqual([['email']]);
    expect(orders!.comment).toBe('What was bought');
    expect(orders!.columns[2]).toEqual({
      name: 'amount',
      type: 'decimal(10,2)',
      datatype: 'Decimal',
      nullable: true,
      comment: 'In euros',
    });
    expect(orphans!.foreign_keys).toEqual([
      { columns: ['customer_id'], to_schema: schema, to_table: 'customers', to_columns: ['id'] },
    ]);
    expect(partly!.unique_keys).toEqual([]);

    const page = await mysql.listTables(session, { limit: 1, schema, after: { schema, name: 'customers' } });
    expect(page).toMatchObject({ more: true, tables: [{ name: 'orders' }] });
    const part = await mysql.listTables(session, { limit: 10, schema, search: 'ORDERS' });
    expect(part.tables.map(({ name }) => name)).toEqual(['big_orders', 'orders']);
    const named = await mysql.listTables(session, { limit: 10, schema, names: ['orders', 'order'] });
    expect(named.tables.map(({ name }) => name)).toEqual(['orders']);
  });

  test('a user sees keys, but only the tables and columns that it may read; whether it may write is read from privileges', async () => {
    const other = await open();
    const { tables } = await mysql.listTables(other, { limit: 10 });
    expect(tables.map(({ name, columns }) => [name, columns.length])).toEqual([
      ['customers', 3],
      ['orphans', 1],
      ['partly', 1],
    ]);
    expect(tables[0]).toMatchObject({ primary_key: ['id'], unique_keys: [['email']] });
    expect(tables[1]!.foreign_keys).toHaveLength(1);
    expect(await other.isWritable()).toBe(false);
    expect(await session.isWritable()).toBe(true);
    await root.query('grant delete on secrets to reader');
    expect(await other.isWritable()).toBe(true);
    other.close();
  });

  test('signing in fails with a reason and without the password', async () => {
    const failing = open({ password: 'hunter2' });
    await expect(failing).rejects.toMatchObject({ reason: 'authentication' });
    await expect(failing).rejects.not.toThrow(/hunter2/);
    await expect(open({ database: 'nowhere' })).rejects.toMatchObject({ reason: 'authentication' });
    await expect(open({ port: 1 })).rejects.toMatchObject({ reason: 'unreachable' });
    await expect(open({ tls: { mode: 'require' } })).rejects.toMatchObject({ reason: 'tls' });
  });
});
