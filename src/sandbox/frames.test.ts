import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testServices } from '../../tests/harness/services.ts';
import { xlsx, zip } from '../../tests/harness/zip.ts';
import { readConfig } from '../config.ts';
import { offlineDatabase } from '../database/index.ts';
import { createSandbox } from './index.ts';
import type { Jobs } from './jobs.ts';

let folder: string;
let sandbox: ReturnType<typeof createSandbox>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-frames-'));
  sandbox = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR: folder }) }));
});
afterAll(async () => {
  await sandbox.stop?.();
  expect(await readdir(join(folder, 'sandbox'))).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

type ReadInput = Jobs['frameRead']['input'];
const limits = { seconds: 20 };
const answer = { maxCharacters: 100, maxBytes: 1e6 };

/** A file of the folder, with these bytes. */
const file = async (name: string, content: string | Buffer): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

/** Reads bytes into a frame, which is kept under `name`. */
const read = async (
  name: string,
  content: string | Buffer,
  input: Partial<ReadInput> & Pick<ReadInput, 'format'>,
) => {
  const made = await sandbox.run(
    'frameRead',
    { header: true, columns: {}, maxRows: 100, maxCharacters: 10_000, ...input },
    {
      files: { source: await file('source', content) },
      limits,
      collect: async (open) => {
        await using frame = await open('frame.parquet');
        await file(name, await frame.readFile());
      },
    },
  );
  return {
    ...made,
    datatypes: Object.fromEntries(made.columns.map((column) => [column.name, column.datatype])),
  };
};

/** Makes a frame of the rows of a query, which is kept under `name`. */
const keep = (
  name: string,
  columns: Jobs['frameOfRows']['input']['columns'],
  rows: readonly (string | number | boolean | null)[][],
) =>
  sandbox.run(
    'frameOfRows',
    { columns, maxCharacters: 10_000 },
    {
      files: {
        rows: (async function* () {
          for (const row of rows) yield Buffer.from(`${JSON.stringify(row)}\n`);
        })(),
      },
      limits,
      collect: async (open) => {
        await using frame = await open('frame.parquet');
        await file(name, await frame.readFile());
      },
    },
  );

const rowsOf = (name: string, input: Partial<Jobs['frameRows']['input']> = {}) =>
  sandbox.run(
    'frameRows',
    { file: 'frame.parquet', columns: null, order: [], limit: 100, offset: 0, ...answer, ...input },
    { files: { 'frame.parquet': join(folder, name) }, limits },
  );

const exported = async (name: string, input: Jobs['frameExport']['input']): Promise<string> => {
  let text = '';
  await sandbox.run('frameExport', input, {
    files: { 'frame.parquet': join(folder, name) },
    limits,
    collect: async (open) => {
      await using content = await open('content');
      text = await content.readFile('utf8');
    },
  });
  return text;
};

const sales = `id,Zip,amount,big,on,at,zoned,ok,,amount
1,00501,9.50,123456789012345678,2026-01-02,2026-01-02T03:04:05.250,2026-01-02T03:04:05+02:00,true,x,1
2,10115,12345678901234567.25,2,2026-02-28,2026-01-02 00:00,2026-01-02T03:04:05Z,FALSE,"=1+1",2
3`;

describe('a frame of a CSV file', () => {
  test('has the datatypes of all its values, and shows every value right', async () => {
    const made = await read('sales', sales, { format: 'csv' });
    expect(made.datatypes).toEqual({
      id: 'Integer',
      Zip: 'String',
      amount: 'Decimal',
      big: 'Integer',
      on: 'Date',
      at: 'DateTime',
      zoned: 'DateTimeTz',
      ok: 'Boolean',
      column_9: 'String',
      amount_2: 'Integer',
    });
    expect(made.warnings).toEqual([expect.objectContaining({ code: 'ambiguous_format', column: 'Zip' })]);
    expect([made.row_count, made.truncated]).toEqual([3, false]);
    const { rows } = await rowsOf('sales');
    expect(rows).toEqual([
      [
        1,
        '00501',
        9.5,
        '123456789012345678',
        '2026-01-02',
        '2026-01-02T03:04:05.25',
        '2026-01-02T01:04:05Z',
        true,
        'x',
        1,
      ],
      [
        2,
        '10115',
        '12345678901234567.25',
        2,
        '2026-02-28',
        '2026-01-02T00:00:00',
        '2026-01-02T03:04:05Z',
        false,
        '=1+1',
        2,
      ],
      [3, null, null, null, null, null, null, null, null, null],
    ]);
    const page = await rowsOf('sales', {
      columns: ['ok', 'id'],
      order: [{ column: 'amount', descending: true }],
      limit: 2,
      maxCharacters: 1,
    });
    expect(page.rows).toEqual([
      [false, 2],
      [true, 1],
    ]);
  });

  test('is the same when it is exported and read again', async () => {
    const text = await exported('sales', { format: 'csv', spreadsheetSafe: false });
    const before = await rowsOf('sales');
    const again = await read('again', text, { format: 'csv' });
    expect(again.columns).toEqual(before.columns);
    expect((await rowsOf('again')).rows).toEqual(before.rows);
    expect(await exported('sales', { format: 'csv', spreadsheetSafe: true })).toContain(",'=1+1,");
    const lines = (await exported('sales', { format: 'ndjson', spreadsheetSafe: false })).trim().split('\n');
    expect(JSON.parse(lines[1]!)).toMatchObject({ amount: '12345678901234567.25', ok: false, id: 2 });
    expect(JSON.parse(await exported('sales', { format: 'json', spreadsheetSafe: false }))).toHaveLength(3);
  });

  test.each<[string, string | Buffer, Partial<ReadInput>, object]>([
    ['a row with more cells', 'a,b\n1,2,3', {}, { reason: 'unreadable' }],
    [
      'a value that is no Integer',
      'a\nx',
      { columns: { a: 'Integer' } },
      { reason: 'invalid_column', details: { column: 'a' } },
    ],
  ])('is not made of %s', async (_what, content, input, failure) => {
    await expect(read('none', content, { format: 'csv', ...input })).rejects.toMatchObject(failure);
  });

  test('is cut after its last allowed row, without a header if so said', async () => {
    const made = await read('cut', '1,a\n2,b\n3,c\n', { format: 'csv', header: false, maxRows: 2 });
    expect(made).toMatchObject({
      row_count: 2,
      truncated: true,
      datatypes: { column_1: 'Integer', column_2: 'String' },
    });
  });
});

describe('a frame of another file', () => {
  test('of JSON has a column for each key', async () => {
    const made = await read('json', '[{"a":1,"b":[1]},{"c":"2026-01-02","a":1.5}]', { format: 'json' });
    expect(made.datatypes).toEqual({ a: 'Decimal', b: 'String', c: 'Date' });
    expect((await rowsOf('json')).rows).toEqual([
      [1, '[1]', null],
      [1.5, null, '2026-01-02'],
    ]);
  });

  test('of a spreadsheet has the types of its cells', async () => {
    const book = xlsx({
      First: [['a']],
      Sales: [
        ['day', 'at', 'n', 'f', 'zip', 'ok', 'none', 'mixed'],
        [{ day: 46024 }, { day: 46024.5 }, 1, 0.5, '42', true, { error: '#DIV/0!' }, 1],
        [{ day: 46025 }, { day: 46025 }, 2, 1e-9, ' 7', false, null, 'x'],
      ],
    });
    const made = await read('sheet', book, { format: 'xlsx', sheet: 'Sales' });
    expect(Object.values(made.datatypes)).toEqual([
      'Date',
      'DateTime',
      'Integer',
      'Float',
      'String',
      'Boolean',
      'String',
      'String',
    ]);
    expect((await rowsOf('sheet')).rows).toEqual([
      ['2026-01-02', '2026-01-02T12:00:00', 1, 0.5, '42', true, null, '1'],
      ['2026-01-03', '2026-01-03T00:00:00', 2, 1e-9, ' 7', false, null, 'x'],
    ]);
    await expect(read('none', book, { format: 'xlsx', sheet: 'Costs' })).rejects.toMatchObject({
      reason: 'not_found',
      details: { sheets: ['First', 'Sales'] },
    });
  });

  test('of Parquet keeps its types', async () => {
    const made = await read('parquet', await readFile(join(folder, 'sales')), {
      format: 'parquet',
      maxRows: 2,
    });
    expect(made).toMatchObject({ row_count: 2, truncated: true });
    expect((await rowsOf('parquet')).rows).toEqual((await rowsOf('sales')).rows.slice(0, 2));
  });

  test('is not made of a zip bomb', async () => {
    const bomb = zip([{ name: 'xl/worksheets/sheet1.xml', content: ' '.repeat(40_000_000) }]);
    await expect(read('none', bomb, { format: 'xlsx' })).rejects.toMatchObject({ reason: 'too_large' });
  });
});

describe('a query over frames', () => {
  const query = (sql: string, input: Partial<Jobs['frameQuery']['input']> = {}) =>
    sandbox.run(
      'frameQuery',
      { sql, parameters: [], tables: { sales: 'f0' }, limit: 100, saveRows: null, ...answer, ...input },
      { files: { f0: join(folder, 'sales') }, limits },
    );

  test('gives rows, and saves all of them', async () => {
    const result = await query(
      `select id, sum(id) over (order by id) as total from sales where id >= ? order by id desc`,
      { parameters: [{ integer: '1' }], limit: 1, saveRows: 2 },
    );
    expect(result).toMatchObject({
      columns: [
        { name: 'id', datatype: 'Integer' },
        { name: 'total', datatype: 'Integer' },
      ],
      rows: [[3, 6]],
      truncated: true,
      saved: { row_count: 2, truncated: true },
    });
  });

  test.each([
    ['reads no other file', `CREATE TABLE t AS SELECT * FROM read_csv('/etc/passwd')`],
    ['writes no file', `COPY sales TO '/tmp/out.csv'`],
    ['changes no setting', 'SET memory_limit = 1'],
  ])('%s, even as a statement of its own', async (_what, statement) => {
    const sql = `SELECT 1) LIMIT 0; ${statement}; SELECT * FROM (SELECT 1`;
    await expect(query(sql)).rejects.toMatchObject({
      reason: 'query_failed',
      message: expect.stringMatching(/disabled by configuration|configuration has been locked/),
    });
  });

  test('ends at its limits', async () => {
    const many = 'select count(*) from range(100000000) a, range(100000000) b';
    await expect(
      sandbox.run(
        'frameQuery',
        { sql: many, parameters: [], tables: {}, limit: 1, saveRows: null, ...answer },
        { limits: { seconds: 0.5 } },
      ),
    ).rejects.toMatchObject({ reason: 'time_limit' });
    await expect(query(`select list(i || repeat('x', 1000)) from range(3000000) t(i)`)).rejects.toMatchObject(
      {
        reason: 'memory',
      },
    );
  });
});

describe('a frame of the rows of a query', () => {
  const rows = [
    [
      1,
      '9223372036854775807',
      '0.10',
      1.5e300,
      true,
      '2026-01-02',
      '2026-01-02T03:04:05.25',
      'a "b"\n,c',
      '',
    ],
    [null, -1, 12, 0.1, false, null, '2026-01-02T00:00:00', '\u2028 ü', 'x'],
  ];
  const columns: Jobs['frameOfRows']['input']['columns'] = [
    { name: 'n', datatype: 'Integer' },
    { name: 'wide', datatype: 'Integer' },
    { name: 'amount', datatype: 'Decimal' },
    { name: 'size', datatype: 'Float' },
    { name: 'is_on', datatype: 'Boolean' },
    { name: 'day', datatype: 'Date' },
    { name: 'at', datatype: 'DateTime' },
    { name: 'text', datatype: 'String' },
    { name: 'N', datatype: 'String' },
  ];

  test('has the datatypes of the query, and shows the same values', async () => {
    const made = await keep('kept', columns, rows);
    expect(made).toMatchObject({ row_count: 2, truncated: false, warnings: [] });
    expect(made.columns.map(({ name, datatype }) => `${name} ${datatype}`)).toEqual([
      'n Integer',
      'wide Decimal',
      'amount Decimal',
      'size Float',
      'is_on Boolean',
      'day Date',
      'at DateTime',
      'text String',
      'N_2 String',
    ]);
    const shown = rows.map((row) => row.map((value) => (value === '0.10' ? 0.1 : value)));
    expect((await rowsOf('kept')).rows).toEqual(shown);
    expect((await keep('empty', columns, [])).row_count).toBe(0);
    expect((await rowsOf('empty')).columns.map(({ datatype }) => datatype)).toEqual(
      columns.map(({ datatype }) => datatype),
    );
  });

  test('becomes text where a value is not of its datatype', async () => {
    const made = await keep(
      'changed',
      [
        { name: 'day', datatype: 'Date' },
        { name: 'n', datatype: 'Integer' },
        { name: 'amount', datatype: 'Decimal' },
      ],
      [
        ['2026-01-02', 7, 1.5],
        ['infinity', 'seven', '1234567890123456789012345678901234567890'],
      ],
    );
    expect(made.columns.map(({ datatype }) => datatype)).toEqual(['String', 'String', 'String']);
    expect(made.warnings.map(({ code, column }) => [code, column])).toEqual([
      ['datatype_changed', 'day'],
      ['datatype_changed', 'n'],
      ['datatype_changed', 'amount'],
    ]);
    expect((await rowsOf('changed')).rows[1]).toEqual([
      'infinity',
      'seven',
      '1234567890123456789012345678901234567890',
    ]);
  });
});

test.each(['a relative path, as the default is', 'a link'])('DATA_DIR may be %s', async (kind) => {
  const real = await mkdtemp(join(folder, 'data-'));
  const link = join(folder, `link-to-${kind.length}`);
  await symlink(real, link);
  const DATA_DIR = kind === 'a link' ? link : relative(process.cwd(), real);
  const there = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR }) }));
  const source = await file('source', 'n\n1\n');
  const input = { format: 'csv', header: true, columns: {}, maxRows: 1, maxCharacters: 10_000 } as const;
  await expect(there.run('frameRead', input, { files: { source }, limits })).resolves.toMatchObject({
    row_count: 1,
  });
  await there.stop?.();
});
