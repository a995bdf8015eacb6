import { matching } from '../names.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { SqlRefusal } from '../refusal.ts';
import type { From, Query } from '../tree.ts';
import type { Datasets } from './datasets.ts';

export const unknownTable = (name: string, at: number | undefined, known: readonly string[]): SqlRefusal => {
  const suggestions = nearest(name, new Set(known));
  return new SqlRefusal('unknown_table', `The table \`${name}\` does not exist.${didYouMean(suggestions)}`, {
    name,
    position: at ?? null,
    suggestions,
  });
};

/**
 * Throws SqlRefusal for a table that is neither one of `datasets` nor a WITH query, of which `ctes` are those around.
 * Tables are looked up before columns: a wrong table is the cause of wrong columns.
 */
export const checkTables = (query: Query, datasets: Datasets, ctes: readonly string[]): void => {
  const known = [...ctes];
  for (const cte of query.with) {
    checkTables(cte.query, datasets, known);
    known.push(cte.name);
  }
  if (query.kind === 'set') {
    checkTables(query.left, datasets, known);
    checkTables(query.right, datasets, known);
    return;
  }
  const look = (from: From): void => {
    if (from.kind === 'subquery') checkTables(from.query, datasets, known);
    else if (from.kind === 'join') {
      look(from.left);
      look(from.right);
    } else if (matching(known, from.name, (name) => name).length === 0 && !datasets.find(from.name))
      throw unknownTable(from.name, from.at, [...known, ...datasets.names()]);
  };
  query.from.forEach(look);
};
