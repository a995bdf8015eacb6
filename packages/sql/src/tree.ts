import type { Datatype } from './types.ts';

/**
 * The tree of a query. It comes from `parseSelect` and `parseExpression`, or is built by code (`build.ts`). No node has
 * text that is printed as it stands: names are quoted, values bound or checked, and all else is a word of a fixed list.
 */

/** Position of a node in the text, in characters from 1; absent if it was built by code. */
export interface At {
  at?: number;
}

export const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const;
/** A part of a date: what it is cut down to, moved by or counted in. */
export type Unit = (typeof units)[number];

export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

export interface CastType {
  type: Exclude<Datatype, 'Opaque'>;
  /** Digits of a Decimal: all, and those after the point. Without it as many as there are. */
  digits?: { precision: number; scale: number };
  /** Limit of the characters of a String. */
  length?: number;
}

/**
 * A value. Numbers are text of digits, so that none is lost; dates are ISO text (`2026-01-31`, `2026-01-31 10:00:00`, in
 * UTC). `bound` values are sent as parameters and never stand in the SQL. Not bound are only numbers that stood in the
 * text, true, false and NULL.
 */
export interface Constant {
  kind: 'constant';
  type: 'Null' | Exclude<Datatype, 'Opaque'>;
  value: string | boolean | null;
  bound: boolean;
  /** True if the type is left to the database, as the value stands next to one without a known type. */
  untyped?: true;
}

export interface Interval {
  kind: 'interval';
  months: number;
  days: number;
  seconds: number;
}

export interface OrderItem<E> {
  expression: E;
  descending: boolean;
  /** NULLs come last unless this is true. */
  nullsFirst: boolean;
}

export type FrameBound =
  | { kind: 'unbounded_preceding' | 'current_row' | 'unbounded_following' }
  | { kind: 'preceding' | 'following'; rows: number };

export interface Window<E> {
  partition: E[];
  order: OrderItem<E>[];
  frame: { mode: 'rows' | 'range'; start: FrameBound; end: FrameBound } | null;
}

/** Types of expressions and queries: those of the text, or those whose names are resolved. */
interface World {
  expression: unknown;
  query: unknown;
}

/** Forms of expressions, in either world. */
export type Shape<W extends World> =
  | Constant
  | Interval
  /** A function of one row, by its name in the table of functions. */
  | { kind: 'call'; name: string; args: W['expression'][]; unit?: string }
  /** An aggregate, or with `over` a window function. Without arguments `count` counts rows. */
  | {
      kind: 'aggregate';
      name: string;
      args: W['expression'][];
      distinct: boolean;
      order: OrderItem<W['expression']>[];
      filter: W['expression'] | null;
      over: Window<W['expression']> | null;
    }
  | { kind: 'arithmetic'; operator: ArithmeticOperator; left: W['expression']; right: W['expression'] }
  | { kind: 'negate'; arg: W['expression'] }
  | { kind: 'compare'; operator: CompareOperator; left: W['expression']; right: W['expression'] }
  | { kind: 'distinct_from'; left: W['expression']; right: W['expression']; not: boolean }
  | { kind: 'and' | 'or'; args: W['expression'][] }
  | { kind: 'not'; arg: W['expression'] }
  | { kind: 'is_null'; arg: W['expression']; not: boolean }
  /** IS [NOT] TRUE, FALSE or, with null, UNKNOWN. */
  | { kind: 'is_boolean'; arg: W['expression']; value: boolean | null; not: boolean }
  /** `%`, `_`, and `\\` before a character that is meant as it stands. */
  | { kind: 'like'; arg: W['expression']; pattern: W['expression']; ignoreCase: boolean; not: boolean }
  | { kind: 'between'; arg: W['expression']; low: W['expression']; high: W['expression']; not: boolean }
  | { kind: 'in'; arg: W['expression']; items: W['expression'][]; not: boolean }
  | { kind: 'in_query'; arg: W['expression']; query: W['query']; not: boolean }
  | { kind: 'exists'; query: W['query'] }
  | { kind: 'query'; query: W['query'] }
  | {
      kind: 'case';
      operand: W['expression'] | null;
      whens: { when: W['expression']; result: W['expression'] }[];
      otherwise: W['expression'] | null;
    }
  | { kind: 'cast'; arg: W['expression']; to: CastType };

interface ColumnName {
  kind: 'column';
  /** The alias or name of its table. */
  table: string | null;
  name: string;
}

interface OfText {
  expression: Expression;
  query: Query;
}

export type Expression = At & (ColumnName | Shape<OfText>);

export type Output =
  | (At & { kind: 'star'; table: string | null })
  | { kind: 'output'; expression: Expression; as: string | null };

export type JoinType = 'inner' | 'left' | 'right' | 'full' | 'cross';

export type From =
  | (At & { kind: 'table'; name: string; alias: string | null; columns?: string[] })
  | (At & { kind: 'subquery'; query: Query; alias: string | null; columns?: string[] })
  | (At & {
      kind: 'join';
      type: JoinType;
      left: From;
      right: From;
      /** `using` null: NATURAL. Neither: a cross join. */
      on?: Expression;
      using?: string[] | null;
    });

export interface Cte extends At {
  name: string;
  columns?: string[];
  query: Query;
}

interface Tail {
  with: Cte[];
  order: OrderItem<Expression>[];
  limit: number | null;
  offset: number | null;
}

export interface Select extends At, Tail {
  kind: 'select';
  distinct: boolean;
  outputs: Output[];
  from: From[];
  where: Expression | null;
  group: Expression[];
  having: Expression | null;
}

export interface SetOperation extends At, Tail {
  kind: 'set';
  operator: 'union' | 'intersect' | 'except';
  all: boolean;
  left: Query;
  right: Query;
}

export type Query = Select | SetOperation;
