import type { SqliteQuery, SqliteRows } from './jobs/sqlite-query.ts';
import type { SqliteServer, SqliteTables, SqliteTablesInput } from './jobs/sqlite-tables.ts';

/** The jobs that there are: what each gets and what it returns. */
export interface Jobs {
  sqliteProbe: { input: { path: string }; output: SqliteServer };
  sqliteTables: { input: SqliteTablesInput; output: SqliteTables };
  sqliteQuery: { input: SqliteQuery; output: SqliteRows };
}

export type JobName = keyof Jobs;

/** What a child loads when it starts: one process can do the jobs of one library. */
export type Library = 'sqlite';

export const libraryOf = (job: JobName): Library => libraries[job];

const libraries: Record<JobName, Library> = {
  sqliteProbe: 'sqlite',
  sqliteTables: 'sqlite',
  sqliteQuery: 'sqlite',
};
