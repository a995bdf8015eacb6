import type { Engine } from '../engines.ts';
import { isNumeric, type Type } from '../types.ts';
import type { Kind } from './spec.ts';

/** An aggregate or window call as a printer gets it: `args` printed, with DISTINCT, and CASE for a filter. */
export interface AggregateCall {
  args: string[];
  types: Type[];
  /** `DISTINCT ` or nothing. */
  distinct: string;
  /** ` ORDER BY …` inside the parentheses, or nothing. */
  order: string;
  /** The separator of `string_agg` as a literal. */
  separator: string;
}

type Printer = (call: AggregateCall) => string;

export interface Aggregate {
  /** `aggregate`: also with OVER. `window`: only with OVER. */
  kind: 'aggregate' | 'window';
  params: Kind[];
  optional?: number;
  /** As in Scalar. */
  whole?: Record<number, [least: number, most: number]>;
  distinct?: boolean;
  /** Takes ORDER BY inside its parentheses; those within a group are ordered by their first argument already. */
  ordered?: boolean;
  /** Cannot have OVER. */
  noWindow?: boolean;
  /** True if the last argument is a fraction from 0 to 1. */
  fraction?: boolean;
  type(types: Type[]): Type;
  print: Record<Engine, Printer | null>;
}

const numeric = ([type]: Type[]): Type => (type && isNumeric(type) ? type : 'Decimal');
const average = ([type]: Type[]): Type => (type === 'Float' ? 'Float' : 'Decimal');
const float = () => 'Float' as const;
const integer = () => 'Integer' as const;
const first = ([type]: Type[]): Type => type!;

const called =
  (name: string): Printer =>
  ({ distinct, args, order }) =>
    `${name}(${distinct}${args.join(', ')}${order})`;

const everywhere = (name: string, others: Partial<Record<Engine, string>> = {}) => ({
  postgres: called(`pg_catalog.${others.postgres ?? name}`),
  mysql: called(others.mysql ?? name),
  sqlite: called(others.sqlite ?? name),
  duckdb: called(others.duckdb ?? name),
});

const statistic = (name: string): Aggregate => ({
  kind: 'aggregate',
  params: ['number'],
  distinct: true,
  type: average,
  print: { ...everywhere(name), sqlite: null },
});

const percentile = (name: 'cont' | 'disc'): Aggregate => ({
  kind: 'aggregate',
  params: [name === 'cont' ? 'number' : 'any', 'number'],
  fraction: true,
  noWindow: true,
  type: name === 'cont' ? float : first,
  print: {
    postgres: ({ args }) =>
      `pg_catalog.percentile_${name}(${args[1]}) WITHIN GROUP (ORDER BY ${name === 'cont' ? `CAST(${args[0]} AS double precision)` : args[0]})`,
    mysql: null,
    sqlite: ({ args }) => `percentile_${name}(${args.join(', ')})`,
    duckdb: ({ args }) =>
      `quantile_${name}(${name === 'cont' ? `CAST(${args[0]} AS DOUBLE)` : args[0]}, ${args[1]})`,
  },
});

const ranking = (name: string, type: () => Type): Aggregate => ({
  kind: 'window',
  params: [],
  type,
  print: everywhere(name),
});

/** `lag` and `lead`: the value, how many rows away, and what stands for rows that do not exist. */
const neighbour = (name: string): Aggregate => ({
  kind: 'window',
  params: ['any', 'number', 'any'],
  optional: 2,
  whole: { 1: [0, 1_000_000] },
  type: first,
  print: everywhere(name),
});

export const aggregates: Record<string, Aggregate> = {
  count: {
    kind: 'aggregate',
    params: ['any'],
    optional: 1,
    distinct: true,
    type: integer,
    print: everywhere('count'),
  },
  sum: {
    kind: 'aggregate',
    params: ['number'],
    distinct: true,
    type: numeric,
    print: everywhere('sum'),
  },
  avg: {
    kind: 'aggregate',
    params: ['number'],
    distinct: true,
    type: average,
    print: everywhere('avg'),
  },
  min: { kind: 'aggregate', params: ['any'], distinct: true, type: first, print: everywhere('min') },
  max: { kind: 'aggregate', params: ['any'], distinct: true, type: first, print: everywhere('max') },
  stddev_samp: statistic('stddev_samp'),
  stddev_pop: statistic('stddev_pop'),
  var_samp: statistic('var_samp'),
  var_pop: statistic('var_pop'),
  median: {
    kind: 'aggregate',
    params: ['number'],
    noWindow: true,
    type: float,
    print: {
      postgres: ({ args }) =>
        `pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(${args[0]} AS double precision))`,
      mysql: null,
      sqlite: called('median'),
      duckdb: ({ args }) => `median(CAST(${args[0]} AS DOUBLE))`,
    },
  },
  percentile_cont: percentile('cont'),
  percentile_disc: percentile('disc'),
  string_agg: {
    kind: 'aggregate',
    params: ['text', 'text'],
    distinct: true,
    ordered: true,
    noWindow: true,
    type: () => 'String',
    print: {
      postgres: called('pg_catalog.string_agg'),
      mysql: ({ distinct, args, order, separator }) =>
        `GROUP_CONCAT(${distinct}${args[0]}${order} SEPARATOR ${separator})`,
      // SQLite's DISTINCT takes one argument, and its separator is then a comma.
      sqlite: (call) =>
        call.distinct === '' ? called('group_concat')(call) : `group_concat(DISTINCT ${call.args[0]})`,
      duckdb: called('string_agg'),
    },
  },
  row_number: ranking('row_number', integer),
  rank: ranking('rank', integer),
  dense_rank: ranking('dense_rank', integer),
  percent_rank: ranking('percent_rank', float),
  cume_dist: ranking('cume_dist', float),
  ntile: {
    kind: 'window',
    params: ['number'],
    whole: { 0: [1, 1_000_000] },
    type: integer,
    print: everywhere('ntile'),
  },
  lag: neighbour('lag'),
  lead: neighbour('lead'),
  first_value: { kind: 'window', params: ['any'], type: first, print: everywhere('first_value') },
  last_value: { kind: 'window', params: ['any'], type: first, print: everywhere('last_value') },
  nth_value: {
    kind: 'window',
    params: ['any', 'number'],
    whole: { 1: [1, 1_000_000] },
    type: first,
    print: everywhere('nth_value'),
  },
};
