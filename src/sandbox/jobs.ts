import type { FrameMade, FrameReadInput } from './jobs/frames/read.ts';
import type {
  FrameAnswer,
  FrameExportInput,
  FrameQueryInput,
  FrameRows,
  FrameRowsInput,
} from './jobs/frames/show.ts';
import type { SqliteQuery, SqliteRows } from './jobs/sqlite-query.ts';
import type { SqliteServer, SqliteTables, SqliteTablesInput } from './jobs/sqlite-tables.ts';

/** The jobs that there are: what each gets and what it returns. */
export interface Jobs {
  sqliteProbe: { input: { path: string }; output: SqliteServer };
  sqliteTables: { input: SqliteTablesInput; output: SqliteTables };
  sqliteQuery: { input: SqliteQuery; output: SqliteRows };
  /** `source` → `frame.parquet`. */
  frameRead: { input: FrameReadInput; output: FrameMade };
  /** Reads `frame.parquet`. */
  frameRows: { input: FrameRowsInput; output: FrameRows };
  /** `frame.parquet` → `content`. */
  frameExport: { input: FrameExportInput; output: null };
  /** Reads the files that it names; saves to `frame.parquet`. */
  frameQuery: { input: FrameQueryInput; output: FrameAnswer };
}

export type JobName = keyof Jobs;

/** What a child loads when it starts: one process can do the jobs of one library. */
export type Library = 'sqlite' | 'duckdb';

export const libraryOf = (job: JobName): Library => libraries[job];

const libraries: Record<JobName, Library> = {
  sqliteProbe: 'sqlite',
  sqliteTables: 'sqlite',
  sqliteQuery: 'sqlite',
  frameRead: 'duckdb',
  frameRows: 'duckdb',
  frameExport: 'duckdb',
  frameQuery: 'duckdb',
};
