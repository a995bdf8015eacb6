import type { Engine } from '../engines.ts';
import type {
  Range,
  Resolved,
  ResolvedCte,
  ResolvedFrom,
  ResolvedOrder,
  ResolvedQuery,
  ResolvedSelect,
  ResolvedSetOperation,
  Source,
  Typed,
} from '../resolved.ts';
import { keyOf } from '../walk.ts';
import { expressionSql, orderSql, type Printing } from './expression.ts';
import { type Printed, Writer } from './writer.ts';

const noneGrouped: ReadonlySet<string> = new Set();

const joinWords = {
  inner: 'JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  cross: 'CROSS JOIN',
} as const;

const isSource = (source: Source | ResolvedCte): source is Source => 'table' in source;

class QueryPrinter {
  readonly #writer: Writer;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#writer = new Writer(engine);
  }

  print(query: ResolvedQuery): Printed {
    return this.#writer.finish(this.#query(query));
  }

  /** Returns the context in which the expressions of a SELECT are printed. */
  #printing(select: ResolvedSelect | null): Printing {
    const expressions = select?.group.filter(({ kind }) => kind !== 'column' && kind !== 'constant') ?? [];
    const keys = this.#engine === 'mysql' ? expressions.map(keyOf) : [];
    return { writer: this.#writer, query: (query) => this.#query(query), grouped: new Set(keys) };
  }

  #query(query: ResolvedQuery): string {
    const body = query.kind === 'set' ? this.#setOperation(query) : this.#select(query);
    const sql = `${this.#with(query.with)}${body}${this.#limit(query)}`;
    return this.#writer.checked(sql);
  }

  #with(ctes: readonly ResolvedCte[]): string {
    if (ctes.length === 0) return '';
    const each = ctes.map(({ name, query }) => `${this.#writer.name(name)} AS (${this.#query(query)})`);
    return `WITH ${each.join(', ')} `;
  }

  #limit({ limit, offset }: ResolvedQuery): string {
    const from = offset === null || offset === 0 ? '' : ` OFFSET ${offset}`;
    if (limit !== null) return ` LIMIT ${limit}${from}`;
    if (from === '') return '';
    // MySQL and SQLite take OFFSET only after a LIMIT.
    if (this.#engine === 'mysql') return ` LIMIT 18446744073709551615${from}`;
    return `${this.#engine === 'sqlite' ? ' LIMIT -1' : ''}${from}`;
  }

  #select(select: ResolvedSelect): string {
    const printing = this.#printing(select);
    const sql = (each: Typed) => expressionSql(each, printing);
    const plain = (each: Typed) => expressionSql(each, { ...printing, grouped: noneGrouped });
    const places = this.#groupPlaces(select, printing);
    const outputs = select.outputs.map((output, i) => {
      const value = places.includes(i) ? plain(output) : sql(output);
      return `${value} AS ${this.#writer.name(select.columns[i]!.printed)}`;
    });
    const group = select.group.map((each, i) => {
      if (places[i] !== -1) return String(places[i]! + 1);
      // A number alone would be the place of a column.
      if (each.kind !== 'constant' || each.type === 'Null') return plain(each);
      return plain({ kind: 'cast', arg: each, to: { type: each.type }, type: each.type });
    });
    const clauses = [
      `SELECT ${select.distinct ? 'DISTINCT ' : ''}${outputs.join(', ')}`,
      select.from.length > 0
        ? `FROM ${select.from.map((from) => this.#from(from, printing)).join(', ')}`
        : this.#engine === 'mysql' && select.where
          ? 'FROM DUAL'
          : '',
      select.where ? `WHERE ${sql(select.where)}` : '',
      group.length > 0 ? `GROUP BY ${group.join(', ')}` : '',
      select.having ? `HAVING ${sql(select.having)}` : '',
    ];
    const body = clauses.filter((clause) => clause !== '').join(' ');
    if (select.order.length === 0) return body;
    if (this.#engine === 'mysql' && select.distinct) return this.#ordered(body, select);
    const order = select.order.map((item) => this.#order(item, printing));
    return `${body} ORDER BY ${order.join(', ')}`;
  }

  /**
   * The output that each group item is; -1 where there is none, and on all engines but MySQL. There an expression with
   * parameters is never the same as another one, so that the output is named by its place.
   */
  #groupPlaces(select: ResolvedSelect, { grouped }: Printing): number[] {
    const outputs = grouped.size > 0 ? select.outputs.map(keyOf) : [];
    return select.group.map((each) => {
      const key = keyOf(each);
      return grouped.has(key) ? outputs.indexOf(key) : -1;
    });
  }

  #order(item: ResolvedOrder, printing: Printing): string {
    if (item.output === null || this.#engine === 'mysql')
      return orderSql(item, expressionSql(item.expression, printing), this.#writer);
    return orderSql(item, String(item.output + 1), this.#writer);
  }

  /** MySQL orders a DISTINCT or UNION by its columns, not by expressions of them; NULLS LAST is one. */
  #ordered(body: string, query: ResolvedQuery): string {
    const column = (i: number) => this.#writer.name('ordered', query.columns[i]!.printed);
    const order = query.order.map((item) => orderSql(item, column(item.output!), this.#writer));
    return `SELECT * FROM (${body}) AS ${this.#writer.name('ordered')} ORDER BY ${order.join(', ')}`;
  }

  #setOperation(query: ResolvedSetOperation): string {
    if (query.all && query.operator !== 'union' && this.#engine === 'sqlite')
      this.#writer.refused(`\`${query.operator.toUpperCase()} ALL\``);
    const operator = `${query.operator.toUpperCase()}${query.all ? ' ALL' : ''}`;
    const body = `${this.#operand(query.left, query, true)} ${operator} ${this.#operand(query.right, query, false)}`;
    if (query.order.length === 0) return body;
    if (this.#engine === 'mysql') return this.#ordered(body, query);
    const order = query.order.map((item) => orderSql(item, String(item.output! + 1), this.#writer));
    return `${body} ORDER BY ${order.join(', ')}`;
  }

  /** One side of a set operation. All engines read a row of the same operation from the left. */
  #operand(query: ResolvedQuery, around: ResolvedSetOperation, isLeft: boolean): string {
    const hasTail =
      query.with.length + query.order.length > 0 || query.limit !== null || query.offset !== null;
    const sameRow =
      isLeft && query.kind === 'set' && query.operator === around.operator && query.all === around.all;
    const sql = this.#query(query);
    if (!hasTail && (query.kind === 'select' || sameRow)) return sql;
    if (this.#engine === 'postgres' || this.#engine === 'duckdb') return `(${sql})`;
    return `SELECT * FROM (${sql}) AS ${this.#writer.name('side')}`;
  }

  #from(from: ResolvedFrom, printing: Printing): string {
    const as = (sql: string, range: Range) => `${sql} AS ${this.#writer.name(this.#writer.alias(range))}`;
    if (from.kind === 'subquery') return as(`(${this.#query(from.query)})`, from.range);
    if (from.kind === 'table') {
      const { source } = from;
      const name = isSource(source)
        ? this.#writer.name(source.schema, source.table)
        : this.#writer.name(source.name);
      return as(name, from.range);
    }
    if (from.type === 'full' && this.#engine === 'mysql') this.#writer.refused('`FULL JOIN`');
    const left = this.#from(from.left, printing);
    const right = this.#from(from.right, printing);
    const on = from.on ? ` ON ${expressionSql(from.on, printing)}` : '';
    return `${left} ${joinWords[from.type]} ${from.right.kind === 'join' ? `(${right})` : right}${on}`;
  }
}

export interface PrintOptions {
  /** At most this many rows, also if the query itself allows more. */
  limit?: number;
}

/**
 * The statement for an engine. Throws SqlRefusal, naming the engine, for what it does not have. Its meaning relies on
 * the session (`sessions.ts`).
 */
export const print = ({ query }: Resolved, engine: Engine, { limit }: PrintOptions = {}): Printed => {
  const most = limit === undefined ? query.limit : Math.min(limit, query.limit ?? limit);
  return new QueryPrinter(engine).print({ ...query, limit: most });
};
