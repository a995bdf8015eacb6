import type { Datatype } from '@agent-platform/sql';
import type { Dialect, Value, Warning } from '../data-connections/index.ts';

/** The language of models: what a document may say, and what a request becomes. The compiler has the rest. */

export { type DatasetColumns, readColumns } from './compiler/columns.ts';
export { compile } from './compiler/compile.ts';
export { checkModel, faultsOfForm } from './compiler/document.ts';
export type { Dialect };

export type Request = { query: Record<string, unknown> } | { sql: string };

export interface Compiled {
  sql: string;
  parameters: readonly Value[];
  columns: readonly {
    name: string;
    label: string | null;
    description: string | null;
    /** Null when it is not known. */
    datatype: Datatype | null;
    role: 'dimension' | 'metric' | 'column';
  }[];
  query: Record<string, unknown> | null;
  /** The tables of the database that it reads, and the functions that it calls, for SQLite. */
  tables: readonly string[];
  functions: readonly string[];
  warnings: readonly Warning[];
}
