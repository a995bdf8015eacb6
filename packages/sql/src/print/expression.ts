import type { Engine } from '../engines.ts';
import type { AggregateCall } from '../functions/aggregates.ts';
import { castSql, decimalSql, declaredSql } from '../functions/casts.ts';
import { addIntervalSql } from '../functions/dates.ts';
import { aggregateOf, scalarOf } from '../functions/table.ts';
import { exact } from '../functions/text.ts';
import { notSupported } from '../refusal.ts';
import type { ResolvedQuery, Typed } from '../resolved.ts';
import type { FrameBound, Constant as FunctionConstant, OrderItem, Window } from '../tree.ts';
import { childrenOf, hasAggregate, keyOf } from '../walk.ts';
import type { Writer } from './writer.ts';

type Of<K extends Typed['kind']> = Extract<Typed, { kind: K }>;

/** Context in which expressions are printed: the statement's writer and how a query is printed. */
export interface Printing {
  writer: Writer;
  query(query: ResolvedQuery): string;
  /** Keys of the expressions, not the columns, that the SELECT around is grouped by; empty but on MySQL. */
  grouped: ReadonlySet<string>;
}

const constantOf = (node: Typed): FunctionConstant | null => (node.kind === 'constant' ? node : null);

/** `/` and `%` by zero are NULL; `/` never drops what is after the point. */
const division = (node: Of<'arithmetic'>, left: string, right: string, { writer }: Printing): string => {
  const by = `NULLIF(${right}, 0)`;
  const float = node.type === 'Float';
  const integers = node.left.type === 'Integer' && node.right.type === 'Integer';
  switch (writer.engine) {
    case 'postgres':
      // A value that is declared to be a Float may be a whole number.
      if (node.operator === '/')
        return `(CAST(${left} AS ${float ? 'double precision' : 'numeric'}) / ${by})`;
      // PostgreSQL has no remainder of doubles.
      return float
        ? `CAST(CAST(${left} AS numeric) % CAST(${by} AS numeric) AS double precision)`
        : `(${left} % ${by})`;
    case 'mysql':
      return `(${left} ${node.operator} ${by})`;
    case 'sqlite':
      if (node.operator === '/') return `(CAST(${left} AS REAL) / ${by})`;
      if (integers) return `(${left} % ${by})`;
      return float ? `mod(${left}, ${by})` : `decimal_mod(${left}, ${right})`;
    case 'duckdb':
      return `(${left} ${node.operator} ${by})`;
  }
};

/** A LIKE pattern as a GLOB pattern, which tells case on SQLite. */
const globOf = (pattern: string): string => {
  const literal = (character: string) => ('*?['.includes(character) ? `[${character}]` : character);
  let glob = '';
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!;
    if (character === '\\') glob += literal(characters[++i] ?? '');
    else glob += character === '%' ? '*' : character === '_' ? '?' : literal(character);
  }
  return glob;
};

const like = (node: Of<'like'>, printing: Printing): string => {
  const { writer } = printing;
  const not = node.not ? 'NOT ' : '';
  const arg = expressionSql(node.arg, printing);
  if (writer.engine === 'sqlite' && !node.ignoreCase) {
    const pattern = constantOf(node.pattern);
    if (pattern?.value === null) return `(${arg} ${not}LIKE NULL)`;
    if (typeof pattern?.value !== 'string')
      return writer.refused('`LIKE` with a pattern that is not written as text');
    return `(${arg} ${not}GLOB ${writer.text(globOf(pattern.value))})`;
  }
  const pattern = expressionSql(node.pattern, printing);
  if (writer.engine === 'mysql') {
    const [text, wanted] = node.ignoreCase ? [`LOWER(${arg})`, `LOWER(${pattern})`] : [arg, pattern];
    return `(${exact(text)} ${not}LIKE ${wanted} ESCAPE '\\')`;
  }
  if (writer.engine === 'sqlite')
    return `(unicode_lower(${arg}) ${not}LIKE unicode_lower(${pattern}) ESCAPE '\\')`;
  const operator = node.ignoreCase ? 'ILIKE' : 'LIKE';
  return `(${arg} ${not}${operator} ${pattern} ESCAPE '\\')`;
};

const isBoolean = (node: Of<'is_boolean'>, printing: Printing): string => {
  const arg = expressionSql(node.arg, printing);
  const not = node.not ? 'NOT ' : '';
  if (node.value === null) return `(${arg} IS ${not}NULL)`;
  const value = node.value ? 'TRUE' : 'FALSE';
  if (printing.writer.engine === 'duckdb')
    return `(${arg} IS ${node.not ? '' : 'NOT '}DISTINCT FROM ${value})`;
  return `(${arg} IS ${not}${value})`;
};

/** ORDER BY items. MySQL has no NULLS LAST: NULL comes first going up and last going down. */
export const orderSql = (item: OrderItem<Typed>, sql: string, writer: Writer): string => {
  const direction = item.descending ? ' DESC' : '';
  if (writer.engine !== 'mysql') return `${sql}${direction} NULLS ${item.nullsFirst ? 'FIRST' : 'LAST'}`;
  if (item.nullsFirst === item.descending) {
    return `(${sql} IS NULL)${item.nullsFirst ? ' DESC' : ''}, ${sql}${direction}`;
  }
  return `${sql}${direction}`;
};

const orderList = (items: readonly OrderItem<Typed>[], printing: Printing): string =>
  items.map((item) => orderSql(item, expressionSql(item.expression, printing), printing.writer)).join(', ');

const bound = (each: FrameBound): string => {
  switch (each.kind) {
    case 'preceding':
      return `${each.rows} PRECEDING`;
    case 'following':
      return `${each.rows} FOLLOWING`;
    case 'current_row':
      return 'CURRENT ROW';
    case 'unbounded_preceding':
      return 'UNBOUNDED PRECEDING';
    case 'unbounded_following':
      return 'UNBOUNDED FOLLOWING';
  }
};

const windowSql = ({ partition, order, frame }: Window<Typed>, printing: Printing): string => {
  const parts = [
    partition.length > 0
      ? `PARTITION BY ${partition.map((each) => expressionSql(each, printing)).join(', ')}`
      : '',
    order.length > 0 ? `ORDER BY ${orderList(order, printing)}` : '',
    frame
      ? `${frame.mode === 'rows' ? 'ROWS' : 'RANGE'} BETWEEN ${bound(frame.start)} AND ${bound(frame.end)}`
      : '',
  ];
  return `OVER (${parts.filter((part) => part !== '').join(' ')})`;
};

/** MariaDB's `lag` and `lead` have no default: it is for the rows that do not exist. */
const mysqlNeighbour = (node: Of<'aggregate'>, args: string[], printing: Printing): string => {
  const offset = constantOf(node.args[1]!)!.value;
  const at = { kind: node.name === 'lag' ? 'preceding' : 'following', rows: Number(offset) } as const;
  const exists = windowSql({ ...node.over!, frame: { mode: 'rows', start: at, end: at } }, printing);
  const value = `${node.name}(${args[0]}, ${offset}) ${windowSql({ ...node.over!, frame: null }, printing)}`;
  return `CASE WHEN COUNT(*) ${exists} = 0 THEN ${args[2]} ELSE ${value} END`;
};

const aggregate = (node: Of<'aggregate'>, around: Printing): string => {
  // A window comes after grouping, an aggregate before it.
  const printing = node.over ? around : { ...around, grouped: new Set<string>() };
  const { writer } = printing;
  const spec = aggregateOf(node.name);
  const print = spec?.print[writer.engine];
  if (!spec || !print) return writer.refused(`\`${node.name}\``);
  let args = node.args.map((arg) => expressionSql(arg, printing));
  const types = node.args.map((arg) => arg.type);
  const filter = node.filter ? expressionSql(node.filter, printing) : null;
  if (writer.engine === 'mysql' && filter !== null)
    args = [`CASE WHEN ${filter} THEN ${args[0] ?? '1'} END`, ...args.slice(1)];
  if (args.length === 0 && node.name === 'count') args = ['*'];
  if (
    writer.engine === 'mysql' &&
    node.over &&
    node.args.length === 3 &&
    (node.name === 'lag' || node.name === 'lead')
  )
    return `(${mysqlNeighbour(node, args, printing)})`;
  const separator = node.name === 'string_agg' ? String(constantOf(node.args[1]!)?.value) : '';
  if (writer.engine === 'sqlite' && node.name === 'string_agg' && node.distinct && separator !== ',')
    return writer.refused('`string_agg` of DISTINCT with another separator than `,`');
  const parts: AggregateCall = {
    args,
    types,
    distinct: node.distinct ? 'DISTINCT ' : '',
    order: node.order.length > 0 ? ` ORDER BY ${orderList(node.order, printing)}` : '',
    separator: writer.literal(separator),
  };
  const filtered = filter !== null && writer.engine !== 'mysql' ? ` FILTER (WHERE ${filter})` : '';
  const over = node.over ? ` ${windowSql(node.over, printing)}` : '';
  const sql = `${print(parts)}${filtered}${over}`;
  const { engine } = writer;
  const isTotal = node.type === 'Decimal' && (node.name === 'sum' || node.name === 'avg');
  return isTotal && isOfDoubles(node, engine) ? decimalSql(engine, sql) : sql;
};

const call = (node: Of<'call'>, printing: Printing): string => {
  const { writer } = printing;
  const print = scalarOf(node.name)?.print[writer.engine];
  const sql = print?.({
    args: node.args.map((arg) => expressionSql(arg, printing)),
    types: node.args.map((arg) => arg.type),
    constants: node.args.map(constantOf),
    unit: node.unit ?? '',
  });
  if (sql === undefined) return writer.refused(`\`${node.name}\``);
  if (sql === null) return writer.refused(`\`${node.name}\` with these arguments`);
  return sql.startsWith('CASE ') ? `(${sql})` : sql;
};

const cases = (node: Of<'case'>, printing: Printing): string => {
  const sql = (each: Typed) => expressionSql(each, printing);
  const whens = node.whens.map(({ when, result }) => ` WHEN ${sql(when)} THEN ${sql(result)}`).join('');
  const otherwise = node.otherwise ? ` ELSE ${sql(node.otherwise)}` : '';
  return `(CASE${node.operand ? ` ${sql(node.operand)}` : ''}${whens}${otherwise} END)`;
};

const arithmetic = (node: Of<'arithmetic'>, printing: Printing): string => {
  const left = expressionSql(node.left, printing);
  if (node.right.kind === 'interval') {
    const sign = node.operator === '-' ? -1 : 1;
    const { months, days, seconds } = node.right;
    const by = { months: sign * months, days: sign * days, seconds: sign * seconds };
    return addIntervalSql(printing.writer.engine, left, node.left.type, by);
  }
  const right = expressionSql(node.right, printing);
  const { engine } = printing.writer;
  if (node.operator === '%') return division(node, left, right, printing);
  const sql =
    node.operator === '/' ? division(node, left, right, printing) : `(${left} ${node.operator} ${right})`;
  return node.type === 'Decimal' && isOfDoubles(node, engine) ? decimalSql(engine, sql) : sql;
};

/**
 * Returns whether an engine computes a Decimal as a double: SQLite each one, data frames a quotient, and what is made
 * of one.
 */
const isOfDoubles = (node: Typed, engine: Engine): boolean => {
  if (engine === 'sqlite') return true;
  if (engine !== 'duckdb' || node.type !== 'Decimal' || (node.kind === 'cast' && node.to.digits))
    return false;
  const isQuotient =
    node.kind === 'aggregate' ? node.name === 'avg' : node.kind === 'arithmetic' && node.operator === '/';
  return isQuotient || valuesIn(node).some((each) => each.type === 'Float' || isOfDoubles(each, engine));
};

/** The expressions inside one that its value is made of: not what it is chosen, ordered or filtered by. */
const valuesIn = (node: Typed): Typed[] => {
  if (node.kind === 'aggregate') return node.args;
  if (node.kind !== 'case') return childrenOf(node);
  return [...node.whens.map(({ result }) => result), ...(node.otherwise ? [node.otherwise] : [])];
};

/** MySQL cannot limit the rows of an IN. */
const inQuery = (node: Of<'in_query'>, printing: Printing): string => {
  const arg = expressionSql(node.arg, printing);
  let query = printing.query(node.query);
  if (printing.writer.engine === 'mysql' && (node.query.limit !== null || node.query.offset !== null)) {
    if (node.query.correlated)
      return printing.writer.refused('`IN` with LIMIT and columns of the query around it');
    query = `SELECT * FROM (${query}) AS "limited"`;
  }
  return `(${arg} ${node.not ? 'NOT ' : ''}IN (${query}))`;
};

/** Returns whether a query has one row at most, whatever is in its tables. */
const isOneRow = (query: ResolvedQuery): boolean =>
  query.limit === 1 ||
  (query.kind === 'select' &&
    (query.from.length === 0 || (query.group.length === 0 && query.outputs.some(hasAggregate))));

/** SQLite takes the first of several rows; all others refuse. An overflow is the only error that it can be made to have. */
const oneValue = (query: ResolvedQuery, { writer, ...printing }: Printing): string => {
  const sql = printing.query(query);
  if (writer.engine !== 'sqlite' || isOneRow(query)) return `(${sql})`;
  const value = writer.name('rows', query.columns[0]!.printed);
  const checked = `CASE WHEN count(*) OVER () > 1 THEN abs(-9223372036854775807 - 1) ELSE ${value} END`;
  return `(SELECT ${checked} FROM (${sql}) AS ${writer.name('rows')})`;
};

const shape = (node: Typed, printing: Printing): string => {
  const { writer } = printing;
  const sql = (each: Typed) => expressionSql(each, printing);
  switch (node.kind) {
    case 'column':
      return writer.name(writer.alias(node.range), node.name);
    case 'declared':
      return declaredSql(writer.engine, sql(node.arg), node.arg.type, node.type);
    case 'constant':
      return writer.constant(node);
    case 'interval':
      throw notSupported(
        'An interval can only be added to a date or subtracted from it.',
        'interval',
        node.at,
      );
    case 'call':
      return call(node, printing);
    case 'aggregate':
      return aggregate(node, printing);
    case 'arithmetic':
      return arithmetic(node, printing);
    case 'negate':
      return `(- ${sql(node.arg)})`;
    case 'compare':
      return `(${sql(node.left)} ${node.operator} ${sql(node.right)})`;
    case 'distinct_from':
      if (writer.engine === 'mysql') {
        const same = `(${sql(node.left)} <=> ${sql(node.right)})`;
        return node.not ? same : `(NOT ${same})`;
      }
      return `(${sql(node.left)} IS ${node.not ? 'NOT ' : ''}DISTINCT FROM ${sql(node.right)})`;
    case 'and':
    case 'or':
      return `(${node.args.map(sql).join(node.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `(NOT ${sql(node.arg)})`;
    case 'is_null':
      return `(${sql(node.arg)} IS ${node.not ? 'NOT ' : ''}NULL)`;
    case 'is_boolean':
      return isBoolean(node, printing);
    case 'like':
      return like(node, printing);
    case 'between':
      return `(${sql(node.arg)} ${node.not ? 'NOT ' : ''}BETWEEN ${sql(node.low)} AND ${sql(node.high)})`;
    case 'in':
      return `(${sql(node.arg)} ${node.not ? 'NOT ' : ''}IN (${node.items.map(sql).join(', ')}))`;
    case 'in_query':
      return inQuery(node, printing);
    case 'exists':
      return `EXISTS (${printing.query(node.query)})`;
    case 'query':
      return oneValue(node.query, printing);
    case 'case':
      return cases(node, printing);
    case 'cast': {
      const cast = castSql(writer.engine, sql(node.arg), node.arg.type, node.to);
      return cast.startsWith('CASE ') ? `(${cast})` : cast;
    }
  }
};

/**
 * The SQL of an expression, in parentheses unless it can stand anywhere. MariaDB does not see that a part of an
 * expression is grouped by; it is the same in all rows of the group, so MAX takes it.
 */
export const expressionSql = (node: Typed, printing: Printing): string => {
  const { writer, grouped } = printing;
  if (grouped.size === 0 || !grouped.has(keyOf(node))) return writer.checked(shape(node, printing));
  return writer.checked(`MAX(${shape(node, { ...printing, grouped: new Set() })})`);
};
