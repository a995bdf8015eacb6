import { nearest } from '../nearest.ts';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type {
  Range,
  Resolved,
  ResolvedCte,
  ResolvedFrom,
  ResolvedOrder,
  ResolvedQuery,
  ResolvedSelect,
  Table,
  Typed,
} from '../resolved.ts';
import type { Expression, From, Query, Select, SetOperation } from '../tree.ts';
import { commonType, datatypeOf } from '../types.ts';
import { nullConstant } from '../values.ts';
import { childrenOf, hasAggregate } from '../walk.ts';
import { isText } from './coerce.ts';
import { castColumn, rename, withPrinted } from './columns.ts';
import { Datasets } from './datasets.ts';
import { isCondition, type Place, resolveExpression } from './expression.ts';
import { checkGrouped } from './grouping.ts';
import { labelOf } from './labels.ts';
import { matching, uniqueName } from './names.ts';
import { byOutput, resolveOrder } from './order.ts';
import { columnOf, type Entry, Scope, type Visible } from './scope.ts';
import { mergeColumns } from './using.ts';

/** A WITH query that can be named in FROM. */
interface NamedCte {
  /** As the user wrote it. */
  name: string;
  cte: ResolvedCte;
}

const hasWindow = (node: Typed): boolean =>
  (node.kind === 'aggregate' && node.over !== null) || childrenOf(node).some(hasWindow);

class Resolver {
  readonly #datasets: Datasets;
  #ranges = 0;
  /** Names of WITH queries, in small letters. */
  readonly #cteNames = new Set<string>();

  constructor(tables: readonly Table[], { inline = false }: ResolveOptions) {
    // A WITH query of the user gets another name than any table, so that it never hides one it reads itself.
    const range = (alias: string) => this.#range(alias);
    this.#datasets = new Datasets(tables, { inline, range, names: this.#cteNames });
  }

  #range(alias: string): Range {
    return { id: this.#ranges++, alias };
  }

  resolve(query: Query): Resolved {
    this.#checkTables(query, []);
    const resolved = this.#query(query, null, []);
    const intervals = resolved.columns.find((column) => column.type === 'Interval');
    if (intervals) throw notSupported(`The column \`${intervals.name}\` is an interval.`, intervals.name);
    resolved.with = [...this.#datasets.finish(), ...resolved.with];
    const used = this.#datasets.used();
    return {
      query: resolved,
      columns: resolved.columns.map(({ name, type }) => ({ name, datatype: datatypeOf(type) })),
      tables: used.map((table) => table.name),
      sources: used.map(({ source }) => source),
    };
  }

  /** Tables are looked up before columns: a wrong table is the cause of wrong columns. */
  #checkTables(query: Query, ctes: readonly string[]): void {
    const known = [...ctes];
    for (const cte of query.with) {
      this.#checkTables(cte.query, known);
      known.push(cte.name);
    }
    if (query.kind === 'set') {
      this.#checkTables(query.left, known);
      this.#checkTables(query.right, known);
      return;
    }
    const look = (from: From): void => {
      if (from.kind === 'subquery') this.#checkTables(from.query, known);
      else if (from.kind === 'join') {
        look(from.left);
        look(from.right);
      } else if (matching(known, from.name, (name) => name).length === 0 && !this.#datasets.find(from.name))
        throw this.#unknownTable(from.name, from.at, known);
    };
    query.from.forEach(look);
  }

  #unknownTable(name: string, at: number | undefined, ctes: readonly string[]): SqlRefusal {
    const suggestions = nearest(name, new Set([...ctes, ...this.#datasets.names()]));
    const instead =
      suggestions.length > 0 ? ` Did you mean ${suggestions.map((s) => `\`${s}\``).join(' or ')}?` : '';
    return new SqlRefusal('unknown_table', `The table \`${name}\` does not exist.${instead}`, {
      name,
      position: at ?? null,
      suggestions,
    });
  }

  #query(query: Query, parent: Scope | null, outer: readonly NamedCte[]): ResolvedQuery {
    const ctes = [...outer];
    const own: ResolvedCte[] = [];
    for (const { name, columns, query: inner, at } of query.with) {
      if (query.with.filter((each) => each.name.toLowerCase() === name.toLowerCase()).length > 1)
        throw notSupported(`The WITH query \`${name}\` stands twice.`, name, at);
      const resolved = this.#query(inner, parent, ctes);
      rename(resolved, columns, name);
      const cte = { name: uniqueName(name, this.#cteNames), query: resolved };
      own.push(cte);
      ctes.push({ name, cte });
    }
    const resolved =
      query.kind === 'set' ? this.#setOperation(query, parent, ctes) : this.#select(query, parent, ctes);
    resolved.with = own;
    if (own.some((cte) => cte.query.correlated)) resolved.correlated = true;
    return resolved;
  }

  #setOperation(query: SetOperation, parent: Scope | null, ctes: readonly NamedCte[]): ResolvedQuery {
    const { operator, all, at } = query;
    const left = this.#query(query.left, parent, ctes);
    const right = this.#query(query.right, parent, ctes);
    const what = operator.toUpperCase();
    if (left.columns.length !== right.columns.length)
      throw notSupported(
        `Both sides of ${what} must have the same number of columns, not ${left.columns.length} and ${right.columns.length}.`,
        what,
        at,
      );
    for (const [i, column] of left.columns.entries()) {
      const other = right.columns[i]!;
      const [a, b] = [this.#constantSide(left, i), this.#constantSide(right, i)];
      const type = a && !b ? other.type : b && !a ? column.type : commonType(column.type, other.type);
      if (type === null)
        throw notSupported(
          `${what} of ${column.type} and ${other.type} is not supported. Cast one of them.`,
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
  }

  /** Whether a column of a SELECT is text in quotes, which takes the type of the other side. */
  #constantSide(query: ResolvedQuery, i: number): boolean {
    return query.kind === 'select' && isText(query.outputs[i]!);
  }

  #select(select: Select, parent: Scope | null, ctes: readonly NamedCte[]): ResolvedSelect {
    const scope = new Scope(parent);
    const from = select.from.map((each) => this.#from(each, scope, ctes));
    let aggregated = false;
    const place = (clause: string, aggregates: boolean, windows: boolean): Place => ({
      scope,
      clause,
      aggregates,
      windows,
      query: (query, around) => this.#query(query, around, ctes),
      onAggregate: () => {
        aggregated = true;
      },
    });
    const condition = (node: Expression | null, at: Place): Typed | null => {
      if (!node) return null;
      const typed = resolveExpression(node, at);
      if (isCondition(typed)) return typed;
      throw notSupported(`${at.clause} needs a condition, not ${typed.type}.`, at.clause, typed.at);
    };

    const where = condition(select.where, place('WHERE', false, false));
    const inSelect = place('SELECT', true, true);
    const outputs: { name: string; value: Typed }[] = select.outputs.flatMap((output) => {
      if (output.kind === 'star') return this.#star(output.table, output.at, scope);
      const { expression, as } = output;
      return [{ name: as ?? labelOf(expression), value: resolveExpression(expression, inSelect) }];
    });
    const names = outputs.map(({ name }) => name);
    const group = select.group.map((item): Typed => {
      // A column of a table comes before an output of the same name.
      const isColumn =
        item.kind === 'column' &&
        item.table === null &&
        matching(scope.visible, item.name, (each) => each.name).length > 0;
      const found = isColumn ? { expression: item } : byOutput(item, names, 'GROUP BY');
      if ('expression' in found) return resolveExpression(found.expression, place('GROUP BY', false, false));
      const { value } = outputs[found.output]!;
      if (hasAggregate(value) || hasWindow(value))
        throw notSupported('GROUP BY cannot name a column with an aggregate.', 'GROUP BY', item.at);
      return value;
    });
    const having = condition(select.having, place('HAVING', true, false));
    const order = resolveOrder(select, outputs, place('ORDER BY', true, true));
    if (aggregated || group.length > 0 || having) {
      const all = [...outputs.map(({ value }) => value), ...order.map(({ expression }) => expression)];
      checkGrouped(having ? [...all, having] : all, group, scope);
    }
    return {
      kind: 'select',
      distinct: select.distinct,
      outputs: outputs.map(({ value }) => value),
      from,
      where,
      group,
      having,
      with: [],
      order,
      limit: select.limit,
      offset: select.offset,
      columns: withPrinted(outputs.map(({ name, value }) => ({ name, type: value.type }))),
      correlated: scope.correlated,
    };
  }

  #star(table: string | null, at: number | undefined, scope: Scope): { name: string; value: Typed }[] {
    const entry = table === null ? null : scope.entry(table);
    if (table !== null && !entry)
      throw new SqlRefusal('unknown_table', `The table \`${table}\` is not in FROM.`, {
        name: table,
        position: at ?? null,
        suggestions: nearest(
          table,
          scope.entries.map(({ name }) => name),
        ),
      });
    const columns = entry ? entry.columns : scope.visible;
    if (columns.length === 0) throw notSupported('`*` needs a table with columns in FROM.', '*', at);
    return columns.map((column) => ({ name: column.name, value: { ...column.read(), at } }));
  }

  #from(from: From, scope: Scope, ctes: readonly NamedCte[]): ResolvedFrom {
    if (from.kind === 'join') return this.#join(from, scope, ctes);
    if (from.kind === 'subquery') {
      const name = from.alias ?? `subquery_${this.#ranges + 1}`;
      // It sees the queries around its own, but not the other tables of this FROM.
      const query = this.#query(from.query, scope.parent, ctes);
      if (query.correlated) scope.correlated = true;
      rename(query, from.columns, name);
      const range = this.#enter(name, from.at, scope, (entered) => this.#columnsOf(query, entered, name));
      return { kind: 'subquery', range, query };
    }
    const name = from.alias ?? from.name;
    // The last WITH query of the name hides those before it and the table.
    const [named] = matching([...ctes].reverse(), from.name, (each) => each.name);
    if (named) {
      const range = this.#enter(name, from.at, scope, (entered) =>
        renamed(this.#columnsOf(named.cte.query, entered, name), from.columns, name),
      );
      return { kind: 'table', range, source: named.cte };
    }
    const table = this.#datasets.find(from.name);
    if (!table) throw this.#unknownTable(from.name, from.at, []);
    const entered = this.#datasets.enter(table);
    const range = this.#enter(name, from.at, scope, (each) =>
      renamed(entered.columns(each, name), from.columns, name),
    );
    return entered.kind === 'table'
      ? { kind: 'table', range, source: entered.source }
      : { kind: 'subquery', range, query: entered.query };
  }

  #columnsOf(query: ResolvedQuery, range: Range, table: string): Visible[] {
    return query.columns.map(({ name, printed, type }) => ({
      name,
      table,
      read: () => columnOf(range, printed, type),
    }));
  }

  #enter(name: string, at: number | undefined, scope: Scope, columnsOf: (range: Range) => Visible[]): Range {
    if (scope.entry(name))
      throw notSupported(`\`${name}\` stands twice in FROM. Give each table an alias of its own.`, name, at);
    const range = this.#range(uniqueName(name, scope.aliases()));
    const entry: Entry = { range, name, columns: columnsOf(range), anyColumn: null };
    scope.entries.push(entry);
    scope.visible.push(...entry.columns);
    return range;
  }

  #join(from: From & { kind: 'join' }, scope: Scope, ctes: readonly NamedCte[]): ResolvedFrom {
    // ON sees the tables of this join only, and those of queries around.
    const inner = new Scope(scope.parent);
    // Aliases must differ from those of all of FROM.
    const before = scope.entries.length;
    const [outerEntries, outerVisible] = [scope.entries, scope.visible];
    inner.entries = [...outerEntries];
    inner.visible = [];
    const left = this.#from(from.left, inner, ctes);
    const leftVisible = inner.visible;
    inner.visible = [];
    const right = this.#from(from.right, inner, ctes);
    const rightVisible = inner.visible;
    const added = inner.entries.slice(before);
    inner.entries = added;
    inner.visible = [...leftVisible, ...rightVisible];
    let on: Typed | null = null;
    if (from.on) {
      const place: Place = {
        scope: inner,
        clause: 'ON',
        aggregates: false,
        windows: false,
        query: (query, around) => this.#query(query, around, ctes),
        onAggregate: () => {},
      };
      on = resolveExpression(from.on, place);
      if (!isCondition(on)) throw notSupported(`ON needs a condition, not ${on.type}.`, 'ON', on.at);
    } else if (from.using !== undefined) {
      const merged = mergeColumns(from, leftVisible, rightVisible);
      on = merged.on;
      inner.visible = merged.visible;
    }
    if (inner.correlated) scope.correlated = true;
    scope.entries = [...outerEntries, ...added];
    scope.visible = [...outerVisible, ...inner.visible];
    const type = on === null ? 'cross' : from.type;
    if (on === null && from.type !== 'cross' && from.type !== 'inner')
      throw notSupported('A join needs ON.', 'JOIN', from.at);
    return { kind: 'join', type, left, right, on };
  }
}

/** The columns with the names of an alias: `FROM t AS x (a, b)`. */
const renamed = (columns: Visible[], names: readonly string[] | undefined, what: string): Visible[] => {
  if (names && names.length > columns.length)
    throw notSupported(`\`${what}\` has ${columns.length} columns, not ${names.length}.`, what);
  return columns.map((column, i) => ({ ...column, name: names?.[i] ?? column.name }));
};

export interface ResolveOptions {
  /**
   * Each use of a table with expressions is a subquery of its own, which engines take apart, and not a WITH query, which
   * PostgreSQL computes whole if it is used twice.
   */
  inline?: boolean;
}

/**
 * Finds the names of a query among `tables`, and the types of its expressions. Throws SqlRefusal for a table, column or
 * combination of types that there is none of.
 */
export const resolve = (query: Query, tables: readonly Table[], options: ResolveOptions = {}): Resolved =>
  new Resolver(tables, options).resolve(query);
