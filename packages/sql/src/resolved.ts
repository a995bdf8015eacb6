import type { At, Expression, JoinType, OrderItem, Shape } from './tree.ts';
import type { Datatype, Type } from './types.ts';

/**
 * The tree after its names were resolved: each column knows its table, each expression its type. Only this is printed.
 * `resolve` makes it, nothing else does.
 */

/** A table of the database, printed with its schema. */
export interface Source {
  schema: string;
  table: string;
}

/** Table that users may name in FROM: a dataset of a model, or a data frame. */
export interface Table {
  name: string;
  source: Source;
  columns: readonly TableColumn[];
}

export interface TableColumn {
  name: string;
  /** Null: not known, so that nothing is checked. */
  datatype: Datatype | null;
  /** Over the columns of `source`; without it the column of this name. */
  expression?: Expression;
}

/** One table in one FROM. `alias` is no name of any table around it, so that it always means this one. */
export interface Range {
  id: number;
  alias: string;
}

interface Resolution {
  expression: Typed;
  query: ResolvedQuery;
}

export type Typed = At & { type: Type } & (
    | { kind: 'column'; range: Range; name: string }
    /** An expression that is declared to be of `type`: a field of a model. */
    | { kind: 'declared'; arg: Typed }
    | Shape<Resolution>
  );

interface ResultColumn {
  name: string;
  /** Null when it is not known; then it is what the database's driver reports. */
  datatype: Datatype | null;
}

/** A column of a query. `printed` is unique in its query and short enough for every engine. */
export interface ResolvedColumn {
  name: string;
  printed: string;
  type: Type;
}

/** A WITH query, of the user or of a dataset. `name` is unique in the whole statement. */
export interface ResolvedCte {
  name: string;
  query: ResolvedQuery;
}

export type ResolvedFrom =
  | { kind: 'table'; range: Range; source: Source | ResolvedCte }
  | { kind: 'subquery'; range: Range; query: ResolvedQuery }
  | { kind: 'join'; type: JoinType; left: ResolvedFrom; right: ResolvedFrom; on: Typed | null };

export interface ResolvedOrder extends OrderItem<Typed> {
  /** The index of the output that it repeats; null if it is another expression. */
  output: number | null;
}

interface ResolvedTail {
  with: ResolvedCte[];
  order: ResolvedOrder[];
  limit: number | null;
  offset: number | null;
  columns: ResolvedColumn[];
  /** True if it reads columns of a query around it. */
  correlated: boolean;
}

export interface ResolvedSelect extends ResolvedTail {
  kind: 'select';
  distinct: boolean;
  outputs: Typed[];
  from: ResolvedFrom[];
  where: Typed | null;
  group: Typed[];
  having: Typed | null;
}

export interface ResolvedSetOperation extends ResolvedTail {
  kind: 'set';
  operator: 'union' | 'intersect' | 'except';
  all: boolean;
  left: ResolvedQuery;
  right: ResolvedQuery;
}

export type ResolvedQuery = ResolvedSelect | ResolvedSetOperation;

/** A query that can be printed. */
export interface Resolved {
  query: ResolvedQuery;
  columns: ResultColumn[];
  /** The names of the tables that it reads. */
  tables: string[];
  /** The tables of the database behind them. */
  sources: Source[];
}
