import { rmSync } from 'node:fs';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { JobFault } from './fault.ts';
import { type FrameMade, readFrame } from './frames/read.ts';
import { fileText } from './frames/relation.ts';
import { frameOfRows as makeOfRows } from './frames/rows.ts';
import {
  type AnswerLimits,
  exportFrame,
  type FrameKept,
  headOf,
  queryFrames,
  readRows,
} from './frames/show.ts';
import { quoteText } from './frames/values.ts';

/**
 * Limits of DuckDB, which the permission model of Node does not set: only the folder of the job opens, nothing is
 * loaded or installed, memory and temporary files are limited. `lock_configuration` comes last: no statement changes it
 * again.
 */
const settings = [
  `SET allowed_directories = [${quoteText(process.cwd())}]`,
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET allow_community_extensions = false',
  `SET memory_limit = '512MB'`,
  'SET threads = 2',
  `SET temp_directory = ${quoteText(`${process.cwd()}/spill`)}`,
  `SET max_temp_directory_size = '1GB'`,
  `SET GLOBAL TimeZone = 'UTC'`,
  'SET enable_external_access = false',
  'SET lock_configuration = true',
];

const open = async (): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(settings.join(';'));
  connection.closeSync();
  return instance;
};

/** Opened when the child starts, so that one that waits in advance has done it. */
const opened = open();

/** The kind of an error of DuckDB, and the first line of its message. The rest quotes the statement that we printed. */
const errorLine = /^(?:Failed to [a-z ]+: )?([A-Z][A-Za-z ]+ Error: .*)/;

const faultOf = (error: unknown): unknown => {
  if (error instanceof JobFault || !(error instanceof Error)) return error;
  const [, line] = errorLine.exec(error.message) ?? [];
  if (line === undefined) return error;
  if (line.startsWith('Out of Memory'))
    return new JobFault('memory', 'more memory was needed than is allowed');
  return new JobFault('query_failed', line);
};

type Work<I, O> = (connection: DuckDBConnection, input: I) => Promise<O>;

const onDuckdb =
  <I, O>(work: Work<I, O>) =>
  async (input: I): Promise<O> => {
    try {
      return await work(await (await opened).connect(), input);
    } catch (error) {
      throw faultOf(error);
    }
  };

/**
 * A job that a process may do several times: on a connection of its own, which takes its variables, prepared statements
 * and temporary tables along, in a transaction that is never committed. The settings are locked. A new instance for each
 * job takes 14 ms of processor time, this takes 0.5. A process whose job fails does no other.
 */
const leavingNothing = <I, O>(work: Work<I, O>) =>
  onDuckdb<I, O>(async (connection, input) => {
    await connection.run('BEGIN');
    const output = await work(connection, input);
    await connection.run('ROLLBACK');
    connection.closeSync();
    return output;
  });

/** A job that makes a frame, and gives its first rows too. */
const keeping = <I>(make: Work<I, FrameMade>) =>
  onDuckdb(
    async (connection, input: I & Pick<AnswerLimits, 'maxCharacters'>): Promise<FrameKept> => ({
      ...(await make(connection, input)),
      head: await headOf(connection, input),
    }),
  );

export const frameRead = keeping(readFrame);
export const frameOfRows = keeping(makeOfRows);
export const frameRows = leavingNothing(readRows);
export const frameExport = onDuckdb(exportFrame);
export const frameQuery = leavingNothing(queryFrames);

/** Not the name of a file of any job: those may be put into the folder meanwhile. */
const rehearsalFile = 'rehearsal.parquet';

/**
 * Writes a frame of one row and groups it, while a process waits in advance: DuckDB and V8 do much only once, and the
 * first job then takes half of the processor time. It leaves nothing behind.
 */
export const rehearse = async (): Promise<void> => {
  const connection = await (await opened).connect();
  const values = `(VALUES (1, 2.5, 'a', DATE '2026-01-01')) AS made(a, b, c, d)`;
  try {
    await connection.run(
      `COPY (SELECT * FROM ${values}) TO ${fileText(rehearsalFile)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    await frameQuery({
      sql: 'SELECT c, d, sum(b) AS total, count(*) AS n FROM main.rehearsal GROUP BY c, d ORDER BY total DESC',
      parameters: [],
      tables: { rehearsal: rehearsalFile },
      limit: 1,
      saveRows: null,
      maxCharacters: 100,
      maxBytes: 1024,
    });
  } finally {
    connection.closeSync();
    rmSync(rehearsalFile, { force: true });
  }
};
