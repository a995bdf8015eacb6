import { uniqueName } from '../names.ts';
import { notSupported } from '../refusal.ts';
import type { Range, ResolvedColumn, ResolvedQuery } from '../resolved.ts';
import type { Type } from '../types.ts';
import { castTo, widened } from './coerce.ts';
import { columnOf, type Visible } from './scope.ts';

export const withPrinted = (columns: { name: string; type: Type }[]): ResolvedColumn[] => {
  const taken = new Set<string>();
  return columns.map((column) => ({ ...column, printed: uniqueName(column.name, taken) }));
};

/** Gives the first columns of a query other names. */
export const rename = (query: ResolvedQuery, names: readonly string[] | undefined, what: string): void => {
  if (!names) return;
  if (names.length > query.columns.length)
    throw notSupported(`\`${what}\` has ${query.columns.length} columns, not ${names.length}.`, what);
  query.columns = withPrinted(query.columns.map(({ name, type }, i) => ({ name: names[i] ?? name, type })));
  if (query.kind === 'set') rename(query.left, names, what);
};

/** Makes column `i` of a query a `type`, so that both sides of a set operation have it. */
export const castColumn = (query: ResolvedQuery, i: number, type: Type, at: number | undefined): void => {
  const column = query.columns[i]!;
  if (column.type === type || type === 'Unknown' || type === 'Null') return;
  if (query.kind === 'set') {
    castColumn(query.left, i, type, at);
    castColumn(query.right, i, type, at);
  } else {
    const output = query.outputs[i]!;
    query.outputs[i] =
      output.type === 'Null' ? castTo(output, { type: type as 'Date' }, at) : widened(output, type);
  }
  query.columns[i] = { ...column, type };
};

/** The columns of a query in FROM, which is called `table` there. */
export const columnsOf = (query: ResolvedQuery, range: Range, table: string): Visible[] =>
  query.columns.map(({ name, printed, type }) => ({
    name,
    table,
    read: () => columnOf(range, printed, type),
  }));

/** The columns with the names of an alias: `FROM t AS x (a, b)`. */
export const renamed = (
  columns: Visible[],
  names: readonly string[] | undefined,
  what: string,
): Visible[] => {
  if (names && names.length > columns.length)
    throw notSupported(`\`${what}\` has ${columns.length} columns, not ${names.length}.`, what);
  return columns.map((column, i) => ({ ...column, name: names?.[i] ?? column.name }));
};
