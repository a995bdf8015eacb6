import type { Page } from './jobs/documents/page.ts';
import type { DocumentRead, DocumentReadInput } from './jobs/documents/read.ts';
import type { FrameReadInput } from './jobs/frames/read.ts';
import type { FrameOfRowsInput } from './jobs/frames/rows.ts';
import type {
  AnswerLimits,
  FrameAnswer,
  FrameExportInput,
  FrameKept,
  FrameQueryInput,
  FrameRows,
  FrameRowsInput,
} from './jobs/frames/show.ts';
import type { PictureOcr, PictureOcrInput } from './jobs/ocr.ts';
import type { ScanOcrInput } from './jobs/scans.ts';
import type { SqliteQuery, SqliteRows } from './jobs/sqlite-query.ts';
import type { SqliteServer, SqliteTables, SqliteTablesInput } from './jobs/sqlite-tables.ts';

/** The jobs that there are: what each gets and what it returns. */
export interface Jobs {
  sqliteProbe: { input: { path: string }; output: SqliteServer };
  sqliteTables: { input: SqliteTablesInput; output: SqliteTables };
  sqliteQuery: { input: SqliteQuery; output: SqliteRows };
  /** `source` → `frame.parquet`. */
  frameRead: { input: FrameReadInput & Pick<AnswerLimits, 'maxCharacters'>; output: FrameKept };
  /** `rows` → `frame.parquet`. */
  frameOfRows: { input: FrameOfRowsInput & Pick<AnswerLimits, 'maxCharacters'>; output: FrameKept };
  /** Reads the file that it names. */
  frameRows: { input: FrameRowsInput; output: FrameRows };
  /** `frame.parquet` → `content`. */
  frameExport: { input: FrameExportInput; output: null };
  /** Reads the files that it names; saves to `frame.parquet`. */
  frameQuery: { input: FrameQueryInput; output: FrameAnswer };
  /** Reads `source`, and so do the two jobs below. */
  documentRead: { input: DocumentReadInput; output: DocumentRead };
  pictureOcr: { input: PictureOcrInput; output: PictureOcr };
  /** Pages of a PDF without text. */
  scanOcr: { input: ScanOcrInput; output: Page[] };
}

export type JobName = keyof Jobs;

/** Library that a child loads when it starts: one process can do the jobs of one library. */
export type Library = 'sqlite' | 'duckdb' | 'documents' | 'ocr' | 'scans';

export const libraryOf = (job: JobName): Library => libraries[job];

/** Jobs that read or write a whole file, for which no one expects an answer at once. */
const long: readonly JobName[] = [
  'frameRead',
  'frameOfRows',
  'frameExport',
  'documentRead',
  'pictureOcr',
  'scanOcr',
];

export const isLong = (job: JobName): boolean => long.includes(job);

const libraries: Record<JobName, Library> = {
  sqliteProbe: 'sqlite',
  sqliteTables: 'sqlite',
  sqliteQuery: 'sqlite',
  frameRead: 'duckdb',
  frameOfRows: 'duckdb',
  frameRows: 'duckdb',
  frameExport: 'duckdb',
  frameQuery: 'duckdb',
  documentRead: 'documents',
  pictureOcr: 'ocr',
  scanOcr: 'scans',
};
