import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import pg from 'pg';
import type { Facts } from './fill.ts';
import type { Responses } from './responses.ts';

/** The databases that each release has a fixture for. */
export const databases = ['embedded', 'postgres'] as const;
export type DatabaseKind = (typeof databases)[number];

export const migrationsFolder = join(import.meta.dirname, '../../migrations');

/** A database folder has three copies of the same system tables: a window of 128 MiB sees them. */
const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_c_enableLongDistanceMatching, ZSTD_d_windowLogMax } =
  constants;
const compress = (bytes: Buffer): Buffer =>
  zstdCompressSync(bytes, {
    params: { [ZSTD_c_compressionLevel]: 19, [ZSTD_c_windowLog]: 27, [ZSTD_c_enableLongDistanceMatching]: 1 },
  });
const decompress = (bytes: Buffer): Buffer =>
  zstdDecompressSync(bytes, { params: { [ZSTD_d_windowLogMax]: 27 } });

/** What is written of a release and a database. */
export interface Fixture {
  facts: Facts;
  responses: Responses;
}

/** The releases that have fixtures, oldest first. */
export const releases = (): string[] =>
  readdirSync(import.meta.dirname)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));

export const folderOf = (release: string, kind: DatabaseKind): string =>
  join(import.meta.dirname, release, kind);

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/** The checksum of a migration as it is now; null if there is none of this name. */
export const checksumOf = (name: string): string | null => {
  try {
    return sha256(readFileSync(join(migrationsFolder, name)));
  } catch {
    return null;
  }
};

/** A database: the migrations that it has with their checksums, the rows of each table as JSON, and its sequences. */
interface Dump {
  migrations: Record<string, string>;
  tables: Record<string, string>;
  sequences: Record<string, string>;
}

const withClient = async <T>(url: string, fn: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
};

/** Reads the whole database at `url`. `release` is the folder whose migrations it has. */
export const dump = (url: string, release: string): Promise<Dump> =>
  withClient(url, async (client) => {
    const column = async (sql: string): Promise<string[]> =>
      (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value);
    const names = await column(`select tablename from pg_tables where schemaname = 'public' order by 1`);
    const tables: Dump['tables'] = {};
    for (const name of names) {
      // As text: JavaScript would change numbers and the order of keys.
      const [rows] = await column(`select json_agg(row_to_json(t))::text from "${name}" t`);
      if (rows) tables[name] = rows;
    }
    const { rows } = await client.query(
      `select sequencename as name, last_value::text as last from pg_sequences where last_value is not null`,
    );
    const applied = await column('select name from migrations order by name');
    return {
      migrations: Object.fromEntries(
        applied.map((name) => [name, sha256(readFileSync(join(release, 'migrations', name)))]),
      ),
      tables,
      sequences: Object.fromEntries(rows.map(({ name, last }) => [name, last])),
    };
  });

/**
 * Makes the empty database at `url` what it was. Migrations never change once they are released, so those of this
 * release make the tables of the earlier one.
 */
export const restore = (url: string, { migrations, tables, sequences }: Dump): Promise<void> =>
  withClient(url, async (client) => {
    await client.query(
      'create table migrations (name text primary key, applied_at timestamptz(3) not null default now())',
    );
    for (const name of Object.keys(migrations))
      await client.query(readFileSync(join(migrationsFolder, name), 'utf8'));
    // No triggers and no foreign keys: the rows are as they were.
    await client.query(`set session_replication_role = replica`);
    for (const [name, rows] of Object.entries(tables)) {
      await client.query(`delete from "${name}"`);
      await client.query(
        `insert into "${name}" overriding system value select * from json_populate_recordset(null::"${name}", $1)`,
        [rows],
      );
    }
    for (const [name, last] of Object.entries(sequences))
      await client.query('select setval($1::regclass, $2)', [name, last]);
  });

/** Writes a fixture: the data folder and, on PostgreSQL, the database. */
export const write = (
  release: string,
  kind: DatabaseKind,
  dataDir: string,
  fixture: Fixture,
  database?: Dump,
): void => {
  const folder = folderOf(release, kind);
  mkdirSync(folder, { recursive: true });
  const tar = execFileSync('tar', ['-cf', '-', '-C', dataDir, '.'], { maxBuffer: 2 ** 30 });
  writeFileSync(join(folder, 'data.tar.zst'), compress(tar));
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  writeFileSync(join(folder, 'responses.json.zst'), compress(text(fixture.responses)));
  writeFileSync(join(folder, 'facts.json'), `${JSON.stringify(fixture.facts, null, 2)}\n`);
  if (database) writeFileSync(join(folder, 'database.json.zst'), compress(text(database)));
};

export const readFixture = (release: string, kind: DatabaseKind): Fixture => {
  const folder = folderOf(release, kind);
  return {
    facts: JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8')),
    responses: JSON.parse(decompress(readFileSync(join(folder, 'responses.json.zst'))).toString()),
  };
};

/** The dump of the fixture on PostgreSQL. */
export const readDump = (release: string): Dump =>
  JSON.parse(decompress(readFileSync(join(folderOf(release, 'postgres'), 'database.json.zst'))).toString());

/** Puts the data folder of a fixture into the empty folder `dataDir`. */
export const unpack = (release: string, kind: DatabaseKind, dataDir: string): void => {
  const input = decompress(readFileSync(join(folderOf(release, kind), 'data.tar.zst')));
  execFileSync('tar', ['-xf', '-', '--no-same-owner', '-C', dataDir], { input });
};
