import type { Dialect, Value, Warning } from '../data-connections/index.ts';
import type { Fault } from '../lib/errors.ts';
import type { Datatype } from '../sql/index.ts';
import type { Issue } from './issues.ts';
import type { SemanticModel } from './ossie.ts';

export type { Dialect };

/** What is compiled: one of the two. */
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

export interface DatasetColumns {
  source: { schema: string; table: string };
  /** `datatype`: of a field that is nothing but this column. */
  columns: { name: string; path: string; datatype: Datatype | null }[];
}

export declare const checkModel: (
  body: {
    semantic_model: unknown;
    verified_queries: readonly { sql?: string | undefined; query?: unknown }[];
  },
  dialect: Dialect,
) => { model: unknown; faults: Fault[]; warnings: Issue[] };

export declare const compile: (
  model: SemanticModel,
  dialect: Dialect,
  request: Request,
  options: { limit: number },
) => Compiled;

export declare const readColumns: (model: SemanticModel, dialect: Dialect) => DatasetColumns[];
