import { type Jobs, type Sandbox, SandboxFailure } from '../../sandbox/index.ts';
import type { Engine, ReadQuery, ServerInfo, Session, TableFilter, TableInfo, TableList } from './engine.ts';
import { ConnectionFailure, NotTaken, QueryFailure } from './failures.ts';
import type { FileSettings } from './settings.ts';
import { checkSqliteHeader, findSqliteFile } from './sqlite-file.ts';
import { datatypeOfDeclared, datatypeOfKinds } from './sqlite-types.ts';
import { RowCollector, type Rows, type Value } from './values.ts';
import { timedOut } from './watch.ts';

const schema = 'main';
const catalogSeconds = 15;
const maxBytes = 10 * 1024 * 1024;
/** The most bytes of rows that wait in a file. */
const maxBytesInBatches = 1024 ** 3;
const maxCharacters = 10_000;

/** Returns a message of our own, because that of SQLite may quote SQL. */
const meaningOf = (message: string): string => {
  if (message.startsWith('no such table')) return 'A table does not exist.';
  if (message.startsWith('no such column')) return 'A column does not exist.';
  if (message === 'A number is no date.')
    return "A column of dates holds a number that is no date. Whole numbers are seconds since 1970; for milliseconds give the field an expression such as `dateadd(second, created / 1000, timestamp '1970-01-01 00:00:00')`.";
  return message.startsWith('no such function')
    ? 'A function does not exist.'
    : 'The database refuses the query.';
};

/** A 503 of the sandbox stays one. */
const failureOf = (error: unknown): unknown => {
  if (error instanceof NotTaken) return error.cause;
  if (!(error instanceof SandboxFailure)) return error;
  switch (error.reason) {
    case 'time_limit':
      return timedOut();
    case 'memory':
    case 'too_large':
      return new QueryFailure('too_large', 'The query needs more memory than it may have.');
    case 'unreadable':
      return new ConnectionFailure('unreachable', 'The file cannot be read as a SQLite database.');
    case 'not_permitted':
      return new QueryFailure('query_failed', 'The query reads or calls what it may not.');
    default:
      return new QueryFailure('query_failed', meaningOf(error.message));
  }
};

const tableOf = (table: Jobs['sqliteTables']['output']['tables'][number]): TableInfo => ({
  schema,
  name: table.name,
  kind: table.kind,
  comment: null,
  row_estimate: table.row_estimate,
  columns: table.columns.map(({ name, type, nullable }) => ({
    name,
    type,
    datatype: datatypeOfDeclared(type),
    nullable,
    comment: null,
  })),
  primary_key: table.primary_key,
  unique_keys: table.unique_keys,
  foreign_keys: table.foreign_keys.map((key) => ({ ...key, to_schema: schema })),
});

const collectorOf = (
  { columns, bytes_in }: Jobs['sqliteQuery']['output'],
  query: ReadQuery,
): RowCollector => {
  const collector = new RowCollector(
    columns.map(({ name, type, values }) => ({
      name,
      datatype: type === null ? datatypeOfKinds(values) : datatypeOfDeclared(type),
    })),
    query,
  );
  for (const column of bytes_in) collector.leftOut(column);
  return collector;
};

/** The lines of a text, which ends with the end of a line. */
async function* linesOf(text: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** A file, which a process of its own opens for each statement, read-only. */
class SqliteSession implements Session {
  readonly broken = false;
  readonly server: ServerInfo;
  readonly #sandbox: Sandbox;
  readonly #find: () => Promise<string>;

  /** `find` checks the file and returns its real path: it may have been replaced since the last statement. */
  constructor(sandbox: Sandbox, find: () => Promise<string>, server: ServerInfo) {
    this.#sandbox = sandbox;
    this.#find = find;
    this.server = server;
  }

  async read(query: ReadQuery): Promise<Rows> {
    const most = query.maxCharacters ?? maxCharacters;
    let collector: RowCollector | undefined;
    try {
      const found = await this.#sandbox.run(
        'sqliteQuery',
        {
          path: await this.#find(),
          sql: query.sql,
          parameters: [...query.parameters],
          tables: [...(query.permitted?.tables ?? [])],
          functions: [...(query.permitted?.functions ?? [])],
          maxRows: query.limit,
          maxBytes: query.onRows ? maxBytesInBatches : maxBytes,
          // One more, so that it is known which texts are cut.
          maxCharacters: Math.min(most + 1, maxBytes),
          toFile: query.onRows !== undefined,
        },
        {
          limits: { seconds: query.timeoutMs / 1_000 },
          signal: query.signal,
          // They are too many for the reply.
          ...(query.onRows && {
            collect: async (open, output) => {
              collector = collectorOf(output, query);
              await using file = await open('rows');
              for await (const line of linesOf(file.createReadStream({ autoClose: false }))) {
                query.signal?.throwIfAborted();
                if (!collector.add(JSON.parse(line) as Value[])) break;
                if (collector.hasBatch) await collector.handOver();
              }
              await collector.handOver();
            },
          }),
        },
      );
      collector ??= collectorOf(found, query);
      for (const row of found.rows) if (!collector.add(row)) break;
      const result = collector.result();
      return { ...result, truncated: result.truncated || found.truncated };
    } catch (error) {
      throw failureOf(error);
    }
  }

  async listTables({ schema: of = schema, names, search, after, limit }: TableFilter): Promise<TableList> {
    if (of !== schema) return { tables: [], more: false };
    try {
      const { tables, has_more } = await this.#sandbox.run(
        'sqliteTables',
        {
          path: await this.#find(),
          limit,
          ...(names === undefined ? {} : { names: [...names] }),
          ...(search === undefined ? {} : { search }),
          ...(after === undefined ? {} : { after: after.name }),
        },
        { limits: { seconds: catalogSeconds } },
      );
      return { tables: tables.map(tableOf), more: has_more };
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** It is opened so. */
  isReadOnly(): Promise<boolean> {
    return Promise.resolve(true);
  }

  isWritable(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {}
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQLite files below `folder`. */
export const createSqlite = (sandbox: Sandbox, folder: string): Engine<FileSettings> => ({
  open: async ({ path }, { progress }) => {
    progress.begin('resolve');
    const real = await progress.within(findSqliteFile(folder, path));
    progress.passed('The file is in SQLITE_DIR.');
    progress.begin('connect');
    await progress.within(checkSqliteHeader(real));
    const seconds = progress.msLeft / 1_000;
    const { version } = await progress
      .within(sandbox.run('sqliteProbe', { path: real }, { limits: { seconds } }))
      .catch((error) => {
        throw failureOf(error);
      });
    progress.passed('The file is a SQLite database.');
    const find = async (): Promise<string> => {
      const present = await findSqliteFile(folder, path);
      await checkSqliteHeader(present);
      return present;
    };
    return new SqliteSession(sandbox, find, { product: 'SQLite', version });
  },
  listTables: (session, filter) => (session as SqliteSession).listTables(filter),
  defaultSchema: () => schema,
  // With its schema, or SQLite would ask the authorizer as for a CTE.
  printSelect: ({ name }, columns, limit) =>
    `select ${columns.map(quoted).join(', ')} from ${schema}.${quoted(name)} limit ${limit}`,
});
