import { matching, uniqueName } from '../names.ts';
import { notSupported } from '../refusal.ts';
import type {
  Range,
  Resolved,
  ResolvedCte,
  ResolvedFrom,
  ResolvedQuery,
  ResolvedSelect,
  Table,
  Typed,
} from '../resolved.ts';
import type { Expression, From, Query, Select } from '../tree.ts';
import { datatypeOf } from '../types.ts';
import { columnsOf, rename, renamed, withPrinted } from './columns.ts';
import { Datasets } from './datasets.ts';
import { isCondition, type Place, resolveExpression } from './expression.ts';
import { checkGrouped, resolveGroup } from './grouping.ts';
import { labelOf } from './labels.ts';
import { resolveOrder } from './order.ts';
import { type Entry, Scope, type Visible } from './scope.ts';
import { joinSides } from './set-operation.ts';
import { checkTables, unknownTable } from './tables.ts';
import { mergeColumns } from './using.ts';

/** A WITH query that can be named in FROM. */
interface NamedCte {
  /** As the user wrote it. */
  name: string;
  cte: ResolvedCte;
}

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
    checkTables(query, this.#datasets, []);
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
      query.kind === 'set'
        ? joinSides(query, this.#query(query.left, parent, ctes), this.#query(query.right, parent, ctes))
        : this.#select(query, parent, ctes);
    resolved.with = own;
    if (own.some((cte) => cte.query.correlated)) resolved.correlated = true;
    return resolved;
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
      if (output.kind === 'star') return scope.star(output.table, output.at);
      const { expression, as } = output;
      return [{ name: as ?? labelOf(expression), value: resolveExpression(expression, inSelect) }];
    });
    const group = resolveGroup(select, outputs, place('GROUP BY', false, false));
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

  #from(from: From, scope: Scope, ctes: readonly NamedCte[]): ResolvedFrom {
    if (from.kind === 'join') return this.#join(from, scope, ctes);
    if (from.kind === 'subquery') {
      const name = from.alias ?? `subquery_${this.#ranges + 1}`;
      // A subquery sees the queries around its own, but not the other tables of this FROM.
      const query = this.#query(from.query, scope.parent, ctes);
      if (query.correlated) scope.correlated = true;
      rename(query, from.columns, name);
      const range = this.#enter(name, from.at, scope, (entered) => columnsOf(query, entered, name));
      return { kind: 'subquery', range, query };
    }
    const name = from.alias ?? from.name;
    // The last WITH query of the name hides those before it and the table.
    const [named] = matching([...ctes].reverse(), from.name, (each) => each.name);
    if (named) {
      const range = this.#enter(name, from.at, scope, (entered) =>
        renamed(columnsOf(named.cte.query, entered, name), from.columns, name),
      );
      return { kind: 'table', range, source: named.cte };
    }
    const table = this.#datasets.find(from.name);
    if (!table) throw unknownTable(from.name, from.at, this.#datasets.names());
    const entered = this.#datasets.enter(table);
    const range = this.#enter(name, from.at, scope, (each) =>
      renamed(entered.columns(each, name), from.columns, name),
    );
    return entered.kind === 'table'
      ? { kind: 'table', range, source: entered.source }
      : { kind: 'subquery', range, query: entered.query };
  }

  #enter(name: string, at: number | undefined, scope: Scope, columnsIn: (range: Range) => Visible[]): Range {
    if (scope.entry(name))
      throw notSupported(`\`${name}\` stands twice in FROM. Give each table an alias of its own.`, name, at);
    const range = this.#range(uniqueName(name, scope.aliases()));
    const entry: Entry = { range, name, columns: columnsIn(range), anyColumn: null };
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
