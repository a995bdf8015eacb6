import type { DatabaseSync } from 'node:sqlite';

export interface SqliteServer {
  /** Version of the library that reads the file. */
  version: string;
}

export interface SqliteTablesInput {
  path: string;
  /** Only tables with this in their name, without case. */
  search?: string;
  /** Only these tables, without case. */
  names?: string[];
  /** Only tables after this one, in the order of their names. */
  after?: string;
  limit: number;
}

interface SqliteColumn {
  name: string;
  /** Declared type, for example `VARCHAR(20)`; empty if there is none. */
  type: string;
  nullable: boolean;
}

interface SqliteTable {
  name: string;
  kind: 'table' | 'view';
  /** Estimate that ANALYZE last stored; null without. */
  row_estimate: number | null;
  /** Empty for a view that is broken. */
  columns: SqliteColumn[];
  /** In the order of the key. */
  primary_key: string[];
  unique_keys: string[][];
  foreign_keys: { columns: string[]; to_table: string; to_columns: string[] }[];
}

/** In the order of their names. */
export interface SqliteTables {
  tables: SqliteTable[];
  has_more: boolean;
}

type Rows = Record<string, string | number | null>[];

/** Reads the schema, which fails if the file is no database. */
export const probe = (database: DatabaseSync): SqliteServer => {
  const { version } = database
    .prepare('select sqlite_version() as version, count(*) from sqlite_schema')
    .get() as {
    version: string;
  };
  return { version };
};

/**
 * The tables and views of `main`, without those of SQLite itself. Virtual tables are left out: their modules read other
 * tables behind the back of who restricts what is read, so that queries of them are refused.
 */
export const readTables = (database: DatabaseSync, input: SqliteTablesInput): SqliteTables => {
  const { search = '', names, after, limit } = input;
  const rows = (sql: string, ...values: string[]) => database.prepare(sql).all(...values) as Rows;
  const part = search.toLowerCase();
  const wanted = names && new Set(names.map((name) => name.toLowerCase()));
  const found = rows(
    `select name, type from pragma_table_list
     where schema = 'main' and type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'
     order by name`,
  ).filter(({ name }) => {
    if (wanted && !wanted.has(String(name).toLowerCase())) return false;
    return (after === undefined || String(name) > after) && String(name).toLowerCase().includes(part);
  });
  const hasStatistics = rows(`select 1 from sqlite_schema where name = 'sqlite_stat1'`).length > 0;
  const tables = found.slice(0, limit).map(({ name, type }): SqliteTable => {
    const table = String(name);
    return {
      name: table,
      kind: type === 'view' ? 'view' : 'table',
      row_estimate: hasStatistics ? estimateRows(rows, table) : null,
      ...describe(rows, table),
    };
  });
  return { tables, has_more: found.length > limit };
};

type Query = (sql: string, ...values: string[]) => Rows;

const estimateRows = (rows: Query, table: string): number | null => {
  const [first] = rows('select stat from sqlite_stat1 where tbl = ? and stat is not null', table);
  const count = Number.parseInt(String(first?.stat ?? ''), 10);
  return Number.isNaN(count) ? null : count;
};

const describe = (
  rows: Query,
  table: string,
): Pick<SqliteTable, 'columns' | 'primary_key' | 'unique_keys' | 'foreign_keys'> => {
  let found: Rows;
  try {
    // `hidden` 1 is an argument of a virtual table; 2 and 3 are generated columns.
    found = rows(
      'select name, type, "notnull", pk from pragma_table_xinfo(?) where hidden <> 1 order by cid',
      table,
    );
  } catch {
    return { columns: [], primary_key: [], unique_keys: [], foreign_keys: [] };
  }
  const primaryKey = found
    .filter(({ pk }) => Number(pk) > 0)
    .sort((a, b) => Number(a.pk) - Number(b.pk))
    .map(({ name }) => String(name));
  return {
    columns: found.map(({ name, type, notnull, pk }) => ({
      name: String(name),
      type: String(type ?? ''),
      nullable: notnull === 0 && Number(pk) === 0,
    })),
    primary_key: primaryKey,
    unique_keys: uniqueKeys(rows, table),
    foreign_keys: foreignKeys(rows, table),
  };
};

/** Unique indexes over columns alone; the one of the primary key is left out. */
const uniqueKeys = (rows: Query, table: string): string[][] =>
  rows(
    `select name from pragma_index_list(?) where "unique" = 1 and partial = 0 and origin <> 'pk' order by name`,
    table,
  )
    .map(({ name }) => rows('select name from pragma_index_info(?) order by seqno', String(name)))
    .filter((columns) => columns.every(({ name }) => name !== null))
    .map((columns) => columns.map(({ name }) => String(name)));

const foreignKeys = (rows: Query, table: string): SqliteTable['foreign_keys'] => {
  const keys = new Map<number, { columns: string[]; to_table: string; to_columns: string[] }>();
  for (const row of rows(
    'select id, "table", "from", "to" from pragma_foreign_key_list(?) order by id, seq',
    table,
  )) {
    const id = Number(row.id);
    const key = keys.get(id) ?? { columns: [], to_table: String(row.table), to_columns: [] };
    keys.set(id, key);
    key.columns.push(String(row.from));
    if (row.to !== null) key.to_columns.push(String(row.to));
  }
  // Without columns the key refers to the primary key of the other table.
  for (const key of keys.values()) {
    if (key.to_columns.length > 0) continue;
    key.to_columns = rows('select name from pragma_table_info(?) where pk > 0 order by pk', key.to_table).map(
      ({ name }) => String(name),
    );
  }
  return [...keys.values()];
};
