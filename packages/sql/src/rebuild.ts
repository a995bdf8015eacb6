import type { Expression, OrderItem } from './tree.ts';

type Change = (node: Expression) => Expression;

const ordered = (order: readonly OrderItem<Expression>[], change: Change): OrderItem<Expression>[] =>
  order.map((item) => ({ ...item, expression: change(item.expression) }));

/** The expression with `change` of each expression directly inside. Queries inside stay as they are. */
export const mapChildren = (node: Expression, change: Change): Expression => {
  switch (node.kind) {
    case 'column':
    case 'constant':
    case 'interval':
    case 'exists':
    case 'query':
      return node;
    case 'negate':
    case 'not':
    case 'is_null':
    case 'is_boolean':
    case 'cast':
    case 'in_query':
      return { ...node, arg: change(node.arg) };
    case 'call':
    case 'and':
    case 'or':
      return { ...node, args: node.args.map(change) };
    case 'aggregate':
      return {
        ...node,
        args: node.args.map(change),
        order: ordered(node.order, change),
        filter: node.filter && change(node.filter),
        over: node.over && {
          ...node.over,
          partition: node.over.partition.map(change),
          order: ordered(node.over.order, change),
        },
      };
    case 'arithmetic':
    case 'compare':
    case 'distinct_from':
      return { ...node, left: change(node.left), right: change(node.right) };
    case 'like':
      return { ...node, arg: change(node.arg), pattern: change(node.pattern) };
    case 'between':
      return { ...node, arg: change(node.arg), low: change(node.low), high: change(node.high) };
    case 'in':
      return { ...node, arg: change(node.arg), items: node.items.map(change) };
    case 'case':
      return {
        ...node,
        operand: node.operand && change(node.operand),
        whens: node.whens.map(({ when, result }) => ({ when: change(when), result: change(result) })),
        otherwise: node.otherwise && change(node.otherwise),
      };
  }
};

/** The expressions directly inside one, without those of queries. */
export const expressionsIn = (node: Expression): Expression[] => {
  const found: Expression[] = [];
  mapChildren(node, (child) => {
    found.push(child);
    return child;
  });
  return found;
};
