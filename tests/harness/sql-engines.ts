import { constants, DatabaseSync } from 'node:sqlite';
import {
  type Datatype,
  type Engine,
  type Parameter,
  type Printed,
  sessionStatements,
} from '@agent-platform/sql';
import { addFunctions } from '@agent-platform/sql/sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { hasMariaDb, sharedMariaDb } from './mariadb.ts';
import { createDatabase, dropDatabase } from './postgres.ts';

/** A database of one engine, with a session as the platform opens it. */
export interface SqlEngine {
  readonly engine: Engine;
  /** The schema that its tables are in. */
  readonly schema: string;
  /** Statements without a result, one by one. */
  execute(...statements: string[]): Promise<void>;
  /** Rows as the driver gives them, in the order of the columns. */
  query(printed: Omit<Printed, 'functions'> & { functions?: readonly string[] }): Promise<unknown[][]>;
  /** The same for SQL that was written by hand, which finds tables without their schema. */
  ask(sql: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

const openPostgres = async (serverUrl: string): Promise<SqlEngine> => {
  const url = await createDatabase(serverUrl);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const types = { getTypeParser: () => (value: string) => value };
  const rowsOf = async (text: string, values: Parameter[]): Promise<unknown[][]> =>
    (await client.query({ text, values, rowMode: 'array', types: types as never })).rows;
  return {
    engine: 'postgres',
    schema: 'public',
    execute: async (...statements) => {
      for (const statement of statements) await client.query(statement);
    },
    query: async ({ sql, parameters }) => {
      await client.query('BEGIN READ ONLY');
      try {
        for (const statement of sessionStatements.postgres) await client.query(statement);
        return await rowsOf(sql, parameters);
      } finally {
        await client.query('ROLLBACK');
      }
    },
    ask: (sql) => rowsOf(sql, []),
    close: async () => {
      await client.end();
      await dropDatabase(url);
    },
  };
};

const openMariaDb = async (): Promise<SqlEngine> => {
  const server = await sharedMariaDb();
  const database = await server.createDatabase();
  const connection = await server.connect({
    database,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    rowsAsArray: true,
  });
  const start = async () => {
    for (const statement of sessionStatements.mysql) await connection.query(statement);
  };
  await start();
  const engine: SqlEngine = {
    engine: 'mysql',
    schema: database,
    execute: async (...statements) => {
      for (const statement of statements) await connection.query(statement);
    },
    query: async ({ sql, parameters }) => {
      // The client would use the statement again, which MariaDB may refuse.
      try {
        const [rows] = await connection.execute(sql, parameters);
        return rows as unknown as unknown[][];
      } finally {
        connection.unprepare(sql);
      }
    },
    ask: (sql) => engine.query({ sql, parameters: [] }),
    close: async () => connection.destroy(),
  };
  return engine;
};

const openSqlite = async (): Promise<SqlEngine> => {
  const database = new DatabaseSync(':memory:');
  for (const statement of sessionStatements.sqlite) database.exec(statement);
  addFunctions(database);
  const engine: SqlEngine = {
    engine: 'sqlite',
    schema: 'main',
    execute: async (...statements) => {
      for (const statement of statements) database.exec(statement);
    },
    query: async ({ sql, parameters, functions }) => {
      // As the platform runs it: only the functions that the statement says it calls.
      database.setAuthorizer((action, _, name) =>
        action !== constants.SQLITE_FUNCTION || !functions || functions.includes(String(name).toLowerCase())
          ? constants.SQLITE_OK
          : constants.SQLITE_DENY,
      );
      const prepared = database.prepare(sql);
      database.setAuthorizer(null);
      prepared.setReturnArrays(true);
      return prepared.all(...(parameters as (string | number)[])) as unknown as unknown[][];
    },
    ask: (sql) => engine.query({ sql, parameters: [] }),
    close: async () => database.close(),
  };
  return engine;
};

const openDuckDb = async (): Promise<SqlEngine> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  for (const statement of sessionStatements.duckdb) await connection.run(statement);
  const engine: SqlEngine = {
    engine: 'duckdb',
    schema: 'main',
    execute: async (...statements) => {
      for (const statement of statements) await connection.run(statement);
    },
    query: async ({ sql, parameters }) => {
      const reader = await connection.runAndReadAll(sql, parameters);
      return reader.getRowsJson() as unknown[][];
    },
    ask: (sql) => engine.query({ sql, parameters: [] }),
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
  return engine;
};

/** All engines that this machine has: MariaDB where it is installed, the others everywhere. */
export const openSqlEngines = async (postgresUrl: string): Promise<SqlEngine[]> =>
  Promise.all([
    openPostgres(postgresUrl),
    openSqlite(),
    openDuckDb(),
    ...(hasMariaDb ? [openMariaDb()] : []),
  ]);

/** A value of any driver in one form: numbers to 9 digits, booleans, and dates without zone and trailing zeros. */
export const comparable = (value: unknown, datatype: Datatype | null): unknown => {
  if (value === null || value === undefined) return null;
  switch (datatype) {
    case 'Integer':
    case 'Decimal':
    case 'Float':
      return Number(Number(value).toPrecision(9));
    case 'Boolean':
      return value === true || value === 't' || Number(value) === 1;
    case 'Time':
    case 'DateTime':
    case 'DateTimeTz':
      return String(value)
        .replace(/\+00(:00)?$/, '')
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '');
    default:
      return typeof value === 'bigint' ? Number(value) : value;
  }
};
