import { notSupported } from '../refusal.ts';
import type { ResolvedOrder, ResolvedQuery } from '../resolved.ts';
import type { SetOperation } from '../tree.ts';
import { commonType, type Type } from '../types.ts';
import { nullConstant } from '../values.ts';
import { isText } from './coerce.ts';
import { castColumn, withPrinted } from './columns.ts';
import { byOutput } from './order.ts';

/** Returns whether a column of a SELECT is text in quotes, which takes the type of the other side. */
const isTextIn = (query: ResolvedQuery, i: number): boolean =>
  query.kind === 'select' && isText(query.outputs[i]!);

/** The type of a column whose sides have `left` and `right`; null if there is none. */
const sharedType = (left: ResolvedQuery, right: ResolvedQuery, i: number): Type | null => {
  const [type, other] = [left.columns[i]!.type, right.columns[i]!.type];
  const [isText, isOtherText] = [isTextIn(left, i), isTextIn(right, i)];
  if (isText !== isOtherText) return isText ? other : type;
  return commonType(type, other);
};

/** UNION, INTERSECT or EXCEPT of two queries, whose columns get the types that both can have. */
export const joinSides = (query: SetOperation, left: ResolvedQuery, right: ResolvedQuery): ResolvedQuery => {
  const { operator, all, at } = query;
  const what = operator.toUpperCase();
  if (left.columns.length !== right.columns.length)
    throw notSupported(
      `Both sides of ${what} must have the same number of columns, not ${left.columns.length} and ${right.columns.length}.`,
      what,
      at,
    );
  for (const i of left.columns.keys()) {
    const type = sharedType(left, right, i);
    if (type === null)
      throw notSupported(
        `${what} of ${left.columns[i]!.type} and ${right.columns[i]!.type} is not supported. Cast one of them.`,
        what,
        at,
      );
    castColumn(left, i, type, at);
    castColumn(right, i, type, at);
  }
  const columns = withPrinted(left.columns.map(({ name, type }) => ({ name, type })));
  const order = query.order.map((item): ResolvedOrder => {
    const found = byOutput(
      item.expression,
      columns.map(({ name }) => name),
      'ORDER BY',
    );
    if (!('output' in found))
      throw notSupported(
        `ORDER BY of ${what} must name a column of the result.`,
        'ORDER BY',
        item.expression.at,
      );
    return { ...item, expression: { ...nullConstant }, output: found.output };
  });
  return {
    kind: 'set',
    operator,
    all,
    left,
    right,
    with: [],
    order,
    limit: query.limit,
    offset: query.offset,
    columns,
    correlated: left.correlated || right.correlated,
  };
};
