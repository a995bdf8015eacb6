import type { Datatype } from '@agent-platform/sql';
import type { DataConnections, OpenDataConnection, Value, Warning } from '../data-connections/index.ts';
import { unprocessable } from '../lib/errors.ts';
import type { Usage } from '../lib/usage.ts';
import { type Compiled, compile, type Dialect, type Request } from './language.ts';
import type { SemanticDataModelRow, VerifiedQuery } from './store.ts';

/** The origin of an answer, besides its rows. */
export interface Origin {
  source: 'query' | 'sql' | 'verified_query' | 'generated';
  verified_query: Pick<VerifiedQuery, 'name' | 'question' | 'verified_by' | 'verified_at'> | null;
  explanation: string | null;
  usage: Usage | null;
}

export interface Answer extends Origin {
  query: Record<string, unknown> | null;
  sql: string;
  parameters: Value[];
  columns: {
    name: string;
    label: string | null;
    description: string | null;
    datatype: Datatype;
    role: 'dimension' | 'metric' | 'column';
  }[];
  rows: Value[][];
  row_count: number;
  truncated: boolean;
  warnings: Warning[];
  duration_ms: number;
}

export interface RunOptions {
  limit: number;
  /** Only translate it. */
  dryRun: boolean;
  signal?: AbortSignal;
  /** Takes the rows in batches: the answer then has none, and may have more than fit into one. */
  onRows?: (rows: Value[][]) => Promise<void>;
}

/** A model with what its data connection speaks. */
export interface CompilableModel {
  row: Pick<SemanticDataModelRow, 'id' | 'data_connection_id' | 'semantic_model' | 'verified_queries'>;
  dialect: Dialect;
}

/** A model with its data connection, for what is run at once. */
export interface OpenedModel extends CompilableModel {
  run: OpenDataConnection['run'];
}

/** Opens a stored model, whose data connection a foreign key keeps. */
export const openModel = async (
  connections: Pick<DataConnections, 'open'>,
  row: OpenedModel['row'],
): Promise<OpenedModel> => ({ row, ...(await connections.open(row.data_connection_id))! });

/** The default of `limit`. */
const defaultRows = 1_000;

/** The limit of a query; throws 422 for one above DATA_QUERY_MAX_ROWS. */
export const limitOf = (given: number | undefined, max: number): number => {
  if (given === undefined) return Math.min(defaultRows, max);
  if (given <= max) return given;
  throw unprocessable([{ path: 'limit', message: `must be at most ${max} (DATA_QUERY_MAX_ROWS)` }]);
};

/** The request of a verified query. */
export const requestOf = ({ sql, query }: Pick<VerifiedQuery, 'sql' | 'query'>): Request =>
  sql === undefined ? { query: query! } : { sql };

export const shownVerified = ({ name, question, verified_by, verified_at }: VerifiedQuery) => ({
  name,
  question,
  verified_by,
  verified_at,
});

/** Compiles a request, for its faults: throws 422. */
export const compileFor = ({ row, dialect }: CompilableModel, request: Request, limit: number): Compiled =>
  compile(row.semantic_model, dialect, request, { limit });

/**
 * Runs a compiled query by `run` of a data connection. Throws 412 if the database cannot be used and 422 with `reason`
 * if it refuses the query. Call it outside any transaction.
 */
export const runCompiled = async (
  run: OpenDataConnection['run'],
  compiled: Compiled,
  origin: Origin,
  { limit, dryRun, signal, onRows }: RunOptions,
): Promise<Answer> => {
  const begun = performance.now();
  const { sql, parameters, columns, tables, functions } = compiled;
  const found = dryRun
    ? null
    : await run({
        sql,
        parameters,
        limit,
        datatypes: columns.map(({ datatype }) => datatype),
        permitted: { tables, functions },
        ...(signal === undefined ? {} : { signal }),
        ...(onRows === undefined ? {} : { onRows }),
      });
  return {
    ...origin,
    query: compiled.query,
    sql,
    parameters: [...parameters],
    columns: columns.map((column, i) => ({
      ...column,
      datatype: column.datatype ?? found?.columns[i]?.datatype ?? 'Opaque',
    })),
    rows: found?.rows ?? [],
    row_count: found?.rows.length ?? 0,
    truncated: found?.truncated ?? false,
    warnings: [...compiled.warnings, ...(found?.warnings ?? [])],
    duration_ms: Math.round(performance.now() - begun),
  };
};
