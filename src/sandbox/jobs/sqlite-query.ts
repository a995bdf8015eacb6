import { closeSync, openSync, writeSync } from 'node:fs';
import { constants, type DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { addFunctions } from '@agent-platform/sql/sqlite';

/** A value that is bound. A string of digits in `integer` is an integer that JSON cannot carry. */
type SqliteParameter = string | number | boolean | null | { integer: string };

export interface SqliteQuery {
  path: string;
  /** One SELECT; what follows it is ignored. */
  sql: string;
  /** In the order of the statement's `?`. */
  parameters: SqliteParameter[];
  /** The tables and views of `main` that the statement may read. Nothing else can be read, not even the schema. */
  tables: string[];
  /** The functions that it may call, in lower case; operators such as LIKE are the functions behind them. */
  functions: string[];
  maxRows: number;
  /** Reading ends when the rows are about this many bytes of JSON. */
  maxBytes: number;
  /** Texts are cut after this many characters (UTF-16 units). */
  maxCharacters: number;
  /** Writes the rows to the file `rows` of the job's folder, a line of JSON for each, and returns none. */
  toFile: boolean;
}

/**
 * An integer beyond 2^53 is a string of its digits. A number that is no JSON (Infinity) is null, and so are bytes.
 */
type SqliteValue = string | number | null;

/** Kinds of the values of a column: whole numbers of any size, other numbers, texts. */
type SqliteKind = 'integer' | 'fraction' | 'text';

export interface SqliteRows {
  /**
   * `type` is the declared type of the column that the values come from; null for an expression. `values` are the kinds
   * of its values that there were.
   */
  columns: { name: string; type: string | null; table: string | null; values: SqliteKind[] }[];
  rows: SqliteValue[][];
  /** True if there are more rows than `maxRows` or `maxBytes` allow. */
  truncated: boolean;
  /** The numbers of the columns in which bytes were found. */
  bytes_in: number[];
  /** True if a text was cut. */
  cut: boolean;
}

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION } = constants;

/** SQLite tells the case of no name. */
const folded = (names: Iterable<string>): Set<string> =>
  new Set([...names].map((name) => name.toLowerCase()));

/**
 * Returns the reads of the permitted views, as `view table column` and `view () function`: found by compiling `select
 * *` from each. SQLite names the innermost view in every question to the authorizer. It also does so for a CTE, so a
 * CTE with the name of a permitted view can read the columns that the view reads, but no others.
 */
const readsOfViews = (database: DatabaseSync, tables: ReadonlySet<string>): Set<string> => {
  const reads = new Set<string>();
  const views = database.prepare(`select name from sqlite_schema where type = 'view'`).all();
  const permitted = views.map(({ name }) => String(name)).filter((name) => tables.has(name.toLowerCase()));
  database.setAuthorizer((action, first, second, _database, view) => {
    if (view === null) return SQLITE_OK;
    reads.add(nameRead(action, first, second, view));
    // A query that needs none of its columns, such as `count(*)`, reads the table behind it without one, and without
    // the name of the view.
    if (action === SQLITE_READ) reads.add(nameRead(action, first, '', null));
    return SQLITE_OK;
  });
  for (const name of permitted) {
    // A view that is broken can be read by no one; the statement says so itself.
    try {
      database.prepare(`select * from main."${name.replaceAll('"', '""')}"`);
    } catch {}
  }
  database.setAuthorizer(null);
  return reads;
};

const nameRead = (action: number, first: string | null, second: string | null, view: string | null): string =>
  JSON.stringify([action, first, second, view]).toLowerCase();

/** Lets a statement read its tables and call its functions, and nothing else. */
const restrict = (database: DatabaseSync, { tables, functions }: SqliteQuery): void => {
  const readable = folded(tables);
  const callable = folded(functions);
  const ofViews = readsOfViews(database, readable);
  database.setAuthorizer((action, first, second, schema, view) => {
    if (action === SQLITE_SELECT) return SQLITE_OK;
    if (ofViews.has(nameRead(action, first, second, view))) return SQLITE_OK;
    if (action === SQLITE_FUNCTION) return callable.has(second!.toLowerCase()) ? SQLITE_OK : SQLITE_DENY;
    if (action !== SQLITE_READ) return SQLITE_DENY;
    // Without a schema it is a CTE, whose own tables are asked for one by one.
    return !schema || (schema === 'main' && readable.has(first!.toLowerCase())) ? SQLITE_OK : SQLITE_DENY;
  });
};

const bound = (parameter: SqliteParameter): SQLInputValue => {
  if (typeof parameter === 'boolean') return parameter ? 1 : 0;
  return parameter !== null && typeof parameter === 'object' ? BigInt(parameter.integer) : parameter;
};

/** The rows of the reply. */
class RowList {
  readonly #rows: SqliteValue[][] = [];
  get count(): number {
    return this.#rows.length;
  }
  add(values: SqliteValue[], _json: string): void {
    this.#rows.push(values);
  }
  end(): SqliteValue[][] {
    return this.#rows;
  }
}

/** Number of characters of rows that are written at once. */
const chunkLength = 1024 * 1024;

/** Rows that are too many for a reply. */
class RowFile {
  readonly #file = openSync('rows', 'w', 0o600);
  #chunk = '';
  count = 0;
  add(_values: SqliteValue[], json: string): void {
    this.count++;
    this.#chunk += `${json}\n`;
    if (this.#chunk.length > chunkLength) this.#flush();
  }
  end(): SqliteValue[][] {
    this.#flush();
    closeSync(this.#file);
    return [];
  }
  #flush(): void {
    writeSync(this.#file, this.#chunk);
    this.#chunk = '';
  }
}

/** Runs one statement and returns its rows, or writes them to a file. */
export const runQuery = (database: DatabaseSync, input: SqliteQuery): SqliteRows => {
  addFunctions(database);
  restrict(database, input);
  const statement = database.prepare(input.sql, { readBigInts: true, returnArrays: true });
  const bytesIn = new Set<number>();
  const kinds = statement.columns().map(() => new Set<SqliteKind>());
  let cut = false;
  const toJson = (value: SQLOutputValue, column: number): SqliteValue => {
    if (typeof value === 'bigint') {
      kinds[column]!.add('integer');
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) return null;
      kinds[column]!.add(Number.isInteger(value) ? 'integer' : 'fraction');
      return value;
    }
    if (value === null) return null;
    if (typeof value === 'string') {
      kinds[column]!.add('text');
      if (value.length <= input.maxCharacters) return value;
      cut = true;
      return value.slice(0, input.maxCharacters);
    }
    bytesIn.add(column);
    return null;
  };
  const rows = input.toFile ? new RowFile() : new RowList();
  let truncated = false;
  let bytes = 0;
  for (const row of statement.iterate(...input.parameters.map(bound))) {
    const values = (row as unknown as SQLOutputValue[]).map(toJson);
    const json = JSON.stringify(values);
    bytes += Buffer.byteLength(json) + 1;
    if (rows.count === input.maxRows || bytes > input.maxBytes) {
      truncated = true;
      break;
    }
    rows.add(values, json);
  }
  const columns = statement.columns().map(({ name, type, table }, i) => ({
    name,
    type: type ?? null,
    table: table ?? null,
    values: [...kinds[i]!],
  }));
  return { columns, rows: rows.end(), truncated, bytes_in: [...bytesIn], cut };
};
