import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stageLists } from './cells.ts';
import { readCsv } from './csv.ts';
import { readPlainCsv } from './plain-csv.ts';
import { readFrame, writeCells } from './read.ts';

let folder: string;
let connection: DuckDBConnection;
const before = process.cwd();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-plain-csv-'));
  process.chdir(folder);
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
});
afterAll(async () => {
  connection.closeSync();
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

/** What was made, with every row of the frame; or the message of the failure. */
const outcome = async (make: () => Promise<object>): Promise<unknown> => {
  try {
    const made = await make();
    const rows = await connection.runAndReadAll(`SELECT * FROM read_parquet('${folder}/frame.parquet')`);
    return { made, rows: rows.getRowsJson() };
  } catch (error) {
    return (error as Error).message;
  }
};

const options = (header: boolean, maxRows = 100) => ({ asked: {}, maxRows, header });

/** Reads the file in both ways: as it is if that can be, and cell by cell. */
const both = async (text: string, header: boolean) => {
  await writeFile('source', text);
  return [
    await outcome(() => readFrame(connection, { format: 'csv', header, columns: {}, maxRows: 100 })),
    await outcome(async () => writeCells(connection, await stageLists(readCsv(text), options(header)))),
  ];
};

describe('a CSV file that DuckDB reads itself', () => {
  test('gives the frame that its cells give, whatever they are', async () => {
    const cells = [
      '',
      'a',
      ' a',
      'a ',
      ' ',
      '1',
      '-2',
      '1.5',
      '007',
      'true',
      'NULL',
      '2026-01-02',
      '#x',
      'é',
    ];
    cells.push('\\', '\\N', "'", '-', '.', '\t', '|', ';', '\u00a0', '1e5', '\u{1f600}', '2026-01-02T03:04');
    // The same numbers in each run (a linear congruential generator).
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    let plain = 0;
    for (let i = 0; i < 300; i++) {
      const separator = [',', ';', '\t', '|'][random(4)]!;
      const width = 2 + random(3);
      const line = () => {
        const length = random(5) === 0 ? 1 + random(width + 1) : width;
        return Array.from({ length }, () => cells[random(cells.length)]).join(separator);
      };
      const text = Array.from({ length: 2 + random(5) }, line).join('\n') + (random(2) ? '\n' : '');
      const header = random(2) === 0;
      const [asItIs, cellByCell] = await both(text, header);
      expect(asItIs, JSON.stringify(text)).toEqual(cellByCell);
      if (typeof asItIs === 'object' && readPlainCsv(text, undefined, options(header))) plain++;
    }
    expect(plain).toBeGreaterThan(50);
  });

  test.each([
    ['quotes', 'a,b\n1,"2"\n'],
    ['quotes inside of a cell', 'a,b\n1,2"\n'],
    ['lines that end in another way', 'a,b\r\n1,2\r\n'],
    ['an empty line', 'a,b\n\n1,2\n'],
    ['an empty first line', '\na,b\n'],
    ['NUL', 'a,b\n1,\0\n'],
    ['one column', 'a\n1\n'],
    ['nothing', ''],
    ['too many rows', 'a,b\n1,2\n3,4\n'],
  ])('has not %s', (_what, text) => {
    expect(readPlainCsv('a,b\n1,2\n', undefined, options(true, 1))).not.toBeNull();
    expect(readPlainCsv(text, undefined, options(true, 1))).toBeNull();
  });

  test('has no datatypes that were asked for', () => {
    const asked = { a: 'Decimal' } as const;
    expect(readPlainCsv('a,b\n1,2\n', undefined, { ...options(true), asked })).toBeNull();
  });

  test('keeps its mark out of the first name', async () => {
    const [asItIs] = await both('\ufeffa,b\n1,2\n', true);
    expect(asItIs).toMatchObject({ made: { columns: [{ name: 'a' }, { name: 'b' }] } });
  });

  test('keeps the order of many rows, which are read by two threads', async () => {
    const count = 400_000;
    const note = 'x'.repeat(80);
    await writeFile(
      'source',
      `id,note\n${Array.from({ length: count }, (_, i) => `${i},${note}`).join('\n')}`,
    );
    const input = { format: 'csv', header: true, columns: {}, maxRows: count } as const;
    expect(await readFrame(connection, input)).toMatchObject({ row_count: count, truncated: false });
    const moved = await connection.runAndReadAll(
      `SELECT count(*) FILTER (id <> file_row_number) FROM read_parquet('${folder}/frame.parquet', file_row_number = true)`,
    );
    expect(moved.getRowsJson()).toEqual([['0']]);
  });
});
