import { expressionsIn } from './rebuild.ts';
import type { Range, ResolvedFrom, ResolvedQuery, Typed } from './resolved.ts';
import type { Expression, OrderItem } from './tree.ts';

const expressionsOf = (order: OrderItem<Typed>[]): Typed[] => order.map(({ expression }) => expression);

/** The expressions directly inside one, without those of queries. A resolved tree has the shape of the one it was. */
export const childrenOf = (node: Typed): Typed[] =>
  node.kind === 'declared'
    ? [node.arg]
    : (expressionsIn(node as unknown as Expression) as unknown as Typed[]);

/** Returns whether an aggregate of this very SELECT is inside, of its rows and not of its groups. */
export const hasAggregate = (node: Typed): boolean =>
  (node.kind === 'aggregate' && !node.over) || childrenOf(node).some(hasAggregate);

/** The query inside an expression. */
export const queryOf = (node: Typed): ResolvedQuery | null =>
  node.kind === 'query' || node.kind === 'exists' || node.kind === 'in_query' ? node.query : null;

const fromExpressions = (from: ResolvedFrom): Typed[] => {
  if (from.kind === 'subquery') return queryExpressions(from.query);
  if (from.kind === 'table') return [];
  return [...fromExpressions(from.left), ...fromExpressions(from.right), ...(from.on ? [from.on] : [])];
};

/** All expressions of a query, those of its parts too, but not those inside of expressions. */
export const queryExpressions = (query: ResolvedQuery): Typed[] => {
  const tail = [...query.with.flatMap((cte) => queryExpressions(cte.query)), ...expressionsOf(query.order)];
  if (query.kind === 'set')
    return [...tail, ...queryExpressions(query.left), ...queryExpressions(query.right)];
  return [
    ...tail,
    ...query.outputs,
    ...query.from.flatMap(fromExpressions),
    ...(query.where ? [query.where] : []),
    ...query.group,
    ...(query.having ? [query.having] : []),
  ];
};

/** Calls `visit` for `node` and everything inside, subqueries too, unless `visit` returns false. */
const walk = (node: Typed, visit: (node: Typed) => boolean): void => {
  if (!visit(node)) return;
  for (const child of childrenOf(node)) walk(child, visit);
  const query = queryOf(node);
  if (query) for (const each of queryExpressions(query)) walk(each, visit);
};

/** The tables whose columns an expression reads. */
export const rangesOf = (node: Typed): Set<Range> => {
  const ranges = new Set<Range>();
  walk(node, (each) => {
    if (each.kind === 'column') ranges.add(each.range);
    return true;
  });
  return ranges;
};

/** Equal for expressions that are the same apart from where they stand. */
export const keyOf = (node: unknown): string =>
  JSON.stringify(node, (key, value) => {
    if (key === 'at') return undefined;
    // The text of a WITH query would stand here for each of its uses, and for each of theirs.
    return key === 'source' && value?.query !== undefined ? value.name : value;
  });
