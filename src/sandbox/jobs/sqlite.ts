import { DatabaseSync } from 'node:sqlite';
import { NoDateError } from '@agent-platform/sql/sqlite';
import { JobFault } from './fault.ts';
import { runQuery } from './sqlite-query.ts';
import { probe, readTables } from './sqlite-tables.ts';

/** Time that a statement waits for a lock of another process, in milliseconds. */
const lockTimeoutMs = 5_000;

/** Result codes of SQLite for a file that is no usable database (sqlite.org/rescode.html). */
const unreadable: Record<number, string> = {
  5: 'the database is locked',
  10: 'the file cannot be read',
  11: 'the database is damaged',
  14: 'the file cannot be opened',
  26: 'the file is not a SQLite database',
};
const notAuthorized = 23;
/** A function that is refused has the general code of errors. */
const refusedFunction = /^not authorized to use function/;

/**
 * Opens the database read-only. The schema of a foreign file is not trusted: its views and generated columns call no
 * function that has side effects. Nothing can be attached. Sorting spills into memory, which is limited, and not into a
 * folder that is not ours.
 */
const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, {
    readOnly: true,
    allowExtension: false,
    enableDoubleQuotedStringLiterals: false,
    defensive: true,
    timeout: lockTimeoutMs,
    limits: {
      length: 100_000_000,
      sqlLength: 1_000_000,
      column: 2_000,
      exprDepth: 1_000,
      compoundSelect: 500,
      functionArg: 127,
      attach: 0,
      likePatternLength: 50_000,
      variableNumber: 32_766,
      triggerDepth: 1,
    },
  });
  database.exec(
    'pragma trusted_schema=off; pragma query_only=on; pragma temp_store=memory; pragma mmap_size=0; pragma cell_size_check=on',
  );
  return database;
};

/** The fault that an error of SQLite means to the caller. */
const faultOf = (error: unknown): unknown => {
  const {
    code,
    errcode = 0,
    errstr,
    message,
  } = error as Error & Record<'code' | 'errstr', string> & { errcode?: number };
  if (error instanceof NoDateError) return new JobFault('query_failed', message);
  if (code !== 'ERR_SQLITE_ERROR') return error;
  const primary = errcode & 0xff;
  if (primary in unreadable) return new JobFault('unreadable', unreadable[primary]!);
  if (primary === notAuthorized || refusedFunction.test(message))
    return new JobFault('not_permitted', message);
  return new JobFault('query_failed', message || errstr);
};

const onDatabase =
  <I extends { path: string }, O>(work: (database: DatabaseSync, input: I) => O) =>
  (input: I): O => {
    try {
      return work(openDatabase(input.path), input);
    } catch (error) {
      throw faultOf(error);
    }
  };

export const sqliteProbe = onDatabase(probe);
export const sqliteTables = onDatabase(readTables);
export const sqliteQuery = onDatabase(runQuery);
