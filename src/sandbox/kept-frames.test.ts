import { copyFile, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { processesIn } from '../../tests/harness/proc.ts';
import { testServices } from '../../tests/harness/services.ts';
import { until } from '../../tests/harness/wait.ts';
import { readConfig } from '../config.ts';
import { offlineDatabase } from '../database/index.ts';
import { actFor } from '../lib/acting-for.ts';
import { createSandbox } from './index.ts';

/** Frames of one row, in files of this folder. */
let frames: string;

const setUp = async () => {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'ap-kept-frames-')));
  const sandbox = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR: dataDir }) }));
  onTestFinished(async () => {
    await sandbox.stop?.();
    expect(await readdir(join(dataDir, 'sandbox')).catch(() => [])).toEqual([]);
    await rm(dataDir, { recursive: true, force: true });
  });
  return { dataDir, sandbox };
};

/** Makes the frame `name`, of one row with `value`. */
const make = async (sandbox: Awaited<ReturnType<typeof setUp>>['sandbox'], name: string, value: string) => {
  await writeFile(join(frames, 'source.csv'), `v\n${value}\n`);
  await sandbox.run(
    'frameRead',
    { format: 'csv', header: true, columns: {}, maxRows: 10, maxCharacters: 100 },
    {
      files: { source: join(frames, 'source.csv') },
      limits: { seconds: 20 },
      collect: async (open) => {
        await using file = await open('frame.parquet');
        await writeFile(join(frames, name), await file.readFile());
      },
    },
  );
};

beforeAll(async () => {
  frames = await mkdtemp(join(tmpdir(), 'ap-kept-frames-'));
});
afterAll(() => rm(frames, { recursive: true, force: true }));

interface Asking {
  person?: string | null;
  by?: string;
  names?: string[];
  sql?: string;
}

const fixture = async () => {
  const { dataDir, sandbox } = await setUp();
  await make(sandbox, 'a.parquet', 'of a');
  await make(sandbox, 'b.parquet', 'of b');
  await make(sandbox, 'planted.parquet', 'planted');
  /** Rows of a query of a person (null: of the platform itself), by an agent or not, of these frames. */
  const ask = ({
    person = 'ann',
    by = 'caller',
    names = ['a'],
    sql = `SELECT v FROM main.${names[0]}`,
  }: Asking = {}) => {
    const run = async () => {
      const { rows } = await sandbox.run(
        'frameQuery',
        {
          sql,
          parameters: [],
          tables: Object.fromEntries(names.map((name) => [name, `${name}.parquet`])),
          limit: 10,
          saveRows: null,
          maxCharacters: 100,
          maxBytes: 1e6,
        },
        {
          files: Object.fromEntries(
            names.map((name) => [`${name}.parquet`, join(frames, `${name}.parquet`)]),
          ),
          limits: { seconds: 20 },
          keepFor: by,
        },
      );
      return rows;
    };
    if (person === null) return run();
    return actFor({ root: () => 'root', who: () => ({ kind: 'person', id: person }) }, run);
  };
  /** The folders of processes that have the file. */
  const foldersWith = async (name: string): Promise<string[]> => {
    const paths = (await readdir(join(dataDir, 'sandbox'))).map((job) => join(dataDir, 'sandbox', job));
    const names = await Promise.all(paths.map((path) => readdir(path).catch(() => [] as string[])));
    return paths.filter((_path, index) => names[index]!.includes(name));
  };
  /** That of the one that is kept, when no other is ending. */
  const folderWith = async (name: string): Promise<string> => {
    await until(async () => (await foldersWith(name)).length === 1);
    return (await foldersWith(name))[0]!;
  };
  return { ask, folderWith, foldersWith };
};

test('who asks again meets the process that has the file, and no one else does', async () => {
  const { ask, folderWith } = await fixture();
  const plant = async () => {
    expect(await ask()).toBeDefined();
    await copyFile(join(frames, 'planted.parquet'), join(await folderWith('a.parquet'), 'a.parquet'));
    expect(await ask()).toEqual([['planted']]);
  };
  for (const other of [{ person: 'bob' }, { by: 'agent 1' }, { names: ['a', 'b'] }, { person: null }]) {
    await plant();
    expect(await ask(other)).toEqual([['of a']]);
  }
  await plant();
  expect(await ask({ names: ['b'] })).toEqual([['of b']]);
});

test('a query of the platform itself leaves no process', async () => {
  const { ask, foldersWith } = await fixture();
  await ask({ person: null });
  await until(async () => (await foldersWith('a.parquet')).length === 0);
});

test('nothing that a query made is there for the next one', async () => {
  const { ask, folderWith } = await fixture();
  await ask();
  const folder = await folderWith('a.parquet');
  // No printer prints this; it stands for a hole in DuckDB.
  await ask({
    sql: `SELECT 1); CREATE TABLE t (a INT); CREATE TEMP TABLE u (a INT); CREATE VIEW w AS SELECT 1; CREATE MACRO m() AS 1;
      CREATE SEQUENCE s; CREATE SCHEMA made; PREPARE p AS SELECT 1; SET VARIABLE known = 'a secret'; SELECT * FROM (SELECT 1`,
  });
  const found = await ask({
    sql: `SELECT (SELECT list(table_name) FROM duckdb_tables()) AS tables,
      (SELECT list(view_name) FROM duckdb_views() WHERE NOT internal) AS views,
      (SELECT count(*) FROM duckdb_functions() WHERE NOT internal) AS macros,
      (SELECT count(*) FROM duckdb_sequences()) AS sequences,
      (SELECT count(*) FROM duckdb_schemas() WHERE NOT internal AND schema_name <> 'main') AS schemas,
      (SELECT count(*) FROM duckdb_prepared_statements() WHERE name = 'p') AS prepared,
      getvariable('known') AS known,
      current_setting('TimeZone') || current_setting('threads') || current_setting('lock_configuration') AS settings`,
  });
  expect(found).toEqual([['["result of the query"]', '["a"]', 0, 0, 0, 0, null, 'UTC2true']]);
  expect(await folderWith('a.parquet')).toBe(folder);
});

test.skipIf(process.platform !== 'linux')(
  'a query that fails ends its process, and one whose process was killed gets another',
  async () => {
    const { ask, folderWith, foldersWith } = await fixture();
    await ask();
    const first = await folderWith('a.parquet');
    await expect(ask({ sql: `SELECT CAST(v AS INT) AS n FROM main.a` })).rejects.toMatchObject({
      reason: 'query_failed',
    });
    expect(await foldersWith('a.parquet')).toEqual([]);
    expect(await ask()).toEqual([['of a']]);
    const second = await folderWith('a.parquet');
    expect(second).not.toBe(first);
    for (const pid of processesIn(second)) process.kill(pid, 'SIGKILL');
    expect(await ask()).toEqual([['of a']]);
  },
);
