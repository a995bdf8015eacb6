import { nearest } from '@agent-platform/sql';
import type { DataConnections, TableInfo } from '../data-connections/index.ts';
import { ApiError } from '../lib/errors.ts';
import { type CompilableModel, compileFor, requestOf, runCompiled } from './answer.ts';
import type { Issue } from './issues.ts';
import { type DatasetColumns, readColumns } from './language.ts';
import type { Dataset } from './ossie.ts';

const error = (code: string, path: string, message: string, suggestions: string[] = []): Issue => ({
  severity: 'error',
  code,
  path,
  message,
  suggestions,
});

const datasetPath = (i: number): string => `semantic_model.datasets[${i}]`;

const checkColumns = (
  table: TableInfo,
  { columns }: DatasetColumns,
  dataset: Dataset,
  i: number,
): Issue[] => {
  const names = table.columns.map(({ name }) => name);
  const find = (name: string) =>
    table.columns.find((column) => column.name === name) ??
    table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
  const issues: Issue[] = [];
  for (const { name, path, datatype } of columns) {
    const column = find(name);
    if (!column) {
      const message = `${table.name} has no column ${name}`;
      issues.push(error('unknown_column', path, message, nearest(name, names)));
    } else if (datatype !== null && datatype !== column.datatype) {
      const message = `the column ${name} is ${column.datatype} (${column.type}), not ${datatype}`;
      issues.push(error('type_changed', path, message));
    }
  }
  const used = new Set(columns.map(({ name }) => name.toLowerCase()));
  for (const { name } of table.columns) {
    if (used.has(name.toLowerCase())) continue;
    issues.push({
      severity: 'warning',
      code: 'new_column',
      path: `${datasetPath(i)}.fields`,
      message: `no field of ${dataset.name} uses the column ${name}`,
      suggestions: [],
    });
  }
  return issues;
};

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Rows with NULL in one of the columns are no duplicates. */
const hasDuplicates = async (
  connections: Pick<DataConnections, 'run'>,
  { row }: CompilableModel,
  table: TableInfo,
  columns: readonly string[],
): Promise<boolean> => {
  const real = columns.map(
    (name) =>
      table.columns.find((column) => column.name === name)?.name ??
      table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase())!.name,
  );
  const list = real.map(quoted).join(', ');
  const given = real.map((name) => `${quoted(name)} is not null`).join(' and ');
  const { rows } = await connections.run(row.data_connection_id, {
    sql: `select 1 from ${quoted(table.schema)}.${quoted(table.name)} where ${given} group by ${list} having count(*) > 1 limit 1`,
    parameters: [],
    limit: 1,
    permitted: { tables: [table.name], functions: ['count'] },
  });
  return rows.length > 0;
};

const checkKeys = async (
  connections: Pick<DataConnections, 'run'>,
  model: CompilableModel,
  table: TableInfo,
  dataset: Dataset,
  i: number,
): Promise<Issue[]> => {
  const keys = [
    ...(dataset.primary_key ? [{ path: `${datasetPath(i)}.primary_key`, columns: dataset.primary_key }] : []),
    ...(dataset.unique_keys ?? []).map((columns, k) => ({
      path: `${datasetPath(i)}.unique_keys[${k}]`,
      columns,
    })),
  ];
  const issues: Issue[] = [];
  for (const { path, columns } of keys) {
    const known = columns.every((name) =>
      table.columns.some((column) => column.name.toLowerCase() === name.toLowerCase()),
    );
    if (!known || columns.length === 0) continue;
    if (await hasDuplicates(connections, model, table, columns)) {
      issues.push(
        error('key_not_unique', path, `several rows of ${table.name} have the same ${columns.join(', ')}`),
      );
    }
  }
  return issues;
};

const checkQueries = async (
  connections: Pick<DataConnections, 'run'>,
  model: CompilableModel,
): Promise<Issue[]> => {
  const issues: Issue[] = [];
  const origin = { source: 'verified_query', verified_query: null, explanation: null, usage: null } as const;
  for (const [i, query] of model.row.verified_queries.entries()) {
    try {
      const compiled = compileFor(model, requestOf(query), 1);
      await runCompiled((sent) => connections.run(model.row.data_connection_id, sent), compiled, origin, {
        limit: 1,
        dryRun: false,
      });
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.code !== 'unprocessable_entity') throw failure;
      issues.push(error('verified_query_failed', `verified_queries[${i}]`, failure.message));
    }
  }
  return issues;
};

/**
 * Compares a model, which obeys the static rules, with its database. `deep` also counts keys and runs the verified
 * queries. Throws 412 if the database cannot be used.
 */
export const checkLive = async (
  connections: Pick<DataConnections, 'run' | 'describeTables'>,
  model: CompilableModel,
  deep: boolean,
): Promise<Issue[]> => {
  const { datasets } = model.row.semantic_model;
  const read = readColumns(model.row.semantic_model, model.dialect);
  const tables = await connections.describeTables(
    model.row.data_connection_id,
    read.map(({ source }) => ({ schema: source.schema, name: source.table })),
  );
  const issues: Issue[] = [];
  for (const [i, dataset] of datasets.entries()) {
    const table = tables[i];
    if (!table) {
      const path = `${datasetPath(i)}.source`;
      issues.push(error('unknown_table', path, `there is no table ${dataset.source} that the user may read`));
      continue;
    }
    issues.push(...checkColumns(table, read[i]!, dataset, i));
    if (deep) issues.push(...(await checkKeys(connections, model, table, dataset, i)));
  }
  if (deep) issues.push(...(await checkQueries(connections, model)));
  return issues;
};
