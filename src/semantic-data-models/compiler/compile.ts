import { parseSelect, print, resolve } from '@agent-platform/sql';
import { Temporal } from 'temporal-polyfill';
import type { Dialect } from '../../data-connections/index.ts';
import type { Compiled, Request } from '../language.ts';
import type { SemanticModel } from '../ossie.ts';
import { refusedAt } from './faults.ts';
import { Model } from './model.ts';
import { resolveStructured } from './structured.ts';

export interface CompileOptions {
  limit: number;
  /** The time of "today" without `as_of`. */
  now?: Temporal.Instant;
}

const resolveSql = (model: Model, sql: string) => {
  const resolved = resolve(parseSelect(sql), model.tables());
  const columns = resolved.columns.map((column) => ({
    ...column,
    label: null,
    description: null,
    role: 'column' as const,
  }));
  return { resolved, columns };
};

const compileFor = (model: Model, request: Request, { limit, now }: CompileOptions): Compiled => {
  const bySql = 'sql' in request;
  return refusedAt(bySql ? 'sql' : 'query', () => {
    const { resolved, columns } = bySql
      ? resolveSql(model, request.sql)
      : resolveStructured(model, request.query, now ?? Temporal.Now.instant());
    // One row more than is answered shows that there are more.
    const { sql, parameters, functions } = print(resolved, model.dialect.engine, { limit: limit + 1 });
    return {
      sql,
      parameters,
      columns,
      query: bySql ? null : request.query,
      tables: [...new Set(resolved.sources.map(({ table }) => table))],
      functions,
      warnings: [],
    };
  });
};

/**
 * The statement that answers a request. `model` must have passed `checkModel`. Throws 422: with `reason`, `name`,
 * `position` and `suggestions` for SQL that is refused, and with the path of each fault for a structured query.
 */
export const compile = (
  model: SemanticModel,
  dialect: Dialect,
  request: Request,
  options: CompileOptions,
): Compiled => compileFor(new Model(model, dialect), request, options);

/** The same for many requests to one model, whose expressions are then parsed once. */
export const compilerOf = (model: Model) => (request: Request, options: CompileOptions) =>
  compileFor(model, request, options);
