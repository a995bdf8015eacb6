import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
const before = process.cwd();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-rehearse-'));
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

test('a rehearsal touches nothing of the job that follows, and leaves nothing for it', async () => {
  // DuckDB gets the folder in which it is loaded.
  const { frameQuery, rehearse } = await import('./duckdb.ts');
  // The files of a job are put into the folder of a process that still rehearses.
  await writeFile('frame.parquet', 'of a job');
  await rehearse();
  expect(await readdir(folder)).toEqual(['frame.parquet']);
  expect(await readFile('frame.parquet', 'utf8')).toBe('of a job');
  const limits = { limit: 100, maxCharacters: 100, maxBytes: 1e6 };
  const sql = `SELECT (SELECT count(*) FROM duckdb_tables()) AS tables,
    (SELECT count(*) FROM duckdb_views() WHERE NOT internal) AS views`;
  const asked = { sql, parameters: [], tables: {}, saveRows: null, ...limits };
  // The table is that of this query itself.
  expect((await frameQuery(asked)).rows).toEqual([[1, 0]]);
});
