import { notSupported } from '../refusal.ts';
import type { Typed } from '../resolved.ts';
import { childrenOf, keyOf, queryExpressions, queryOf } from '../walk.ts';
import type { Scope } from './scope.ts';

/**
 * Refuses a column that is neither grouped by nor in an aggregate. SQLite, and MySQL in parts, would take it from any
 * row of the group.
 */
export const checkGrouped = (nodes: readonly Typed[], group: readonly Typed[], scope: Scope): void => {
  const grouped = new Set(group.map(keyOf));
  const check = (node: Typed, here: boolean): void => {
    if (grouped.has(keyOf(node))) return;
    if (node.kind === 'column') {
      if (!scope.owns(node.range)) return;
      throw notSupported(`\`${node.name}\` must stand in GROUP BY or in an aggregate.`, node.name, node.at);
    }
    // An aggregate of the same SELECT; one in a subquery groups that.
    if (here && node.kind === 'aggregate' && !node.over) return;
    for (const child of childrenOf(node)) check(child, here);
    const query = queryOf(node);
    if (query) for (const each of queryExpressions(query)) check(each, false);
  };
  for (const node of nodes) check(node, true);
};
