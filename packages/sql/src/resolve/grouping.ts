import { matching } from '../names.ts';
import { notSupported } from '../refusal.ts';
import type { Typed } from '../resolved.ts';
import type { Select } from '../tree.ts';
import { childrenOf, hasAggregate, keyOf, queryExpressions, queryOf } from '../walk.ts';
import { type Place, resolveExpression } from './expression.ts';
import { byOutput } from './order.ts';
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

const hasWindow = (node: Typed): boolean =>
  (node.kind === 'aggregate' && node.over !== null) || childrenOf(node).some(hasWindow);

/** GROUP BY of a SELECT. */
export const resolveGroup = (
  select: Select,
  outputs: readonly { name: string; value: Typed }[],
  place: Place,
): Typed[] => {
  const names = outputs.map(({ name }) => name);
  return select.group.map((item) => {
    // A column of a table comes before an output of the same name.
    const isColumn =
      item.kind === 'column' &&
      item.table === null &&
      matching(place.scope.visible, item.name, (each) => each.name).length > 0;
    const found = isColumn ? { expression: item } : byOutput(item, names, 'GROUP BY');
    if ('expression' in found) return resolveExpression(found.expression, place);
    const { value } = outputs[found.output]!;
    if (hasAggregate(value) || hasWindow(value))
      throw notSupported('GROUP BY cannot name a column with an aggregate.', 'GROUP BY', item.at);
    return value;
  });
};
