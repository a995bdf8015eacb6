import type { CompareOperator, Expression, OrderItem, Output, Query, Select, SetOperation } from './tree.ts';
import type { Type } from './types.ts';
import { booleanConstant, constantOf, numberConstant } from './values.ts';

/** Trees that code builds. What they hold of a caller is a name, which is quoted, or a value, which is bound. */

export const column = (table: string | null, name: string): Expression => ({ kind: 'column', table, name });

export const call = (name: string, args: Expression[], unit?: string): Expression => ({
  kind: 'call',
  name,
  args,
  ...(unit === undefined ? {} : { unit }),
});

/** `max(x)`, `count(x)`: an aggregate with one argument. */
export const aggregate = (name: string, arg: Expression): Expression => ({
  kind: 'aggregate',
  name,
  args: [arg],
  distinct: false,
  order: [],
  filter: null,
  over: null,
});

export const compare = (left: Expression, operator: CompareOperator, right: Expression): Expression => ({
  kind: 'compare',
  operator,
  left,
  right,
});

/** All of these; null for none. */
export const allOf = (conditions: readonly Expression[]): Expression | null => {
  const [first, second] = conditions;
  if (!first) return null;
  return second ? { kind: 'and', args: [...conditions] } : first;
};

/** Text as a bound value of `type`; null if it is none. */
export const valueAs = (text: string, type: Type): Expression | null => constantOf(text, type);

/** A bound number, from its digits; null if it is none. */
export const numberOf = (digits: string): Expression | null => numberConstant(digits, true);

export const truthOf = (value: boolean): Expression => booleanConstant(value, true);

export const nothing: Expression = { kind: 'constant', type: 'Null', value: null, bound: false };

/** ORDER BY the column of this index. */
export const place = (index: number): Expression => ({
  kind: 'constant',
  type: 'Integer',
  value: String(index + 1),
  bound: false,
});

export const output = (expression: Expression, as: string): Output => ({ kind: 'output', expression, as });

export const orderBy = (expression: Expression, descending: boolean): OrderItem<Expression> => ({
  expression,
  descending,
  nullsFirst: false,
});

export const select = (parts: Partial<Select> & Pick<Select, 'outputs'>): Select => ({
  kind: 'select',
  distinct: false,
  from: [],
  where: null,
  group: [],
  having: null,
  with: [],
  order: [],
  limit: null,
  offset: null,
  ...parts,
});

export const unionAll = (left: Query, right: Query): SetOperation => ({
  kind: 'set',
  operator: 'union',
  all: true,
  left,
  right,
  with: [],
  order: [],
  limit: null,
  offset: null,
});
