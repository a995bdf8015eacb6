import { matching, uniqueName } from '../names.ts';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Range, ResolvedCte, ResolvedSelect, Source, Table, TableColumn, Typed } from '../resolved.ts';
import { type Type, typeOf } from '../types.ts';
import { numberConstant } from '../values.ts';
import { type Place, resolveExpression } from './expression.ts';
import { columnOf, Scope, type Visible } from './scope.ts';

/** Resolves the fields of one table, over the columns of the database, and nothing else. */
class Fields {
  readonly #table: Table;
  readonly #place: Place;
  /** The types of the database's columns, as far as the fields that are nothing but a column tell them. */
  #guesses: Map<string, Type> | null = null;
  readonly #types = new Map<TableColumn, Type>();

  constructor(table: Table, range: Range) {
    this.#table = table;
    const scope = new Scope(null);
    const anyColumn = (name: string): Typed => columnOf(range, name, this.#guess(name));
    // A field may be written as `orders.amount`, by the name of the dataset or of its table.
    scope.entries = [table.name, table.source.table].map((name) => ({ range, name, columns: [], anyColumn }));
    this.#place = {
      scope,
      clause: 'a field',
      aggregates: false,
      windows: false,
      query: () => {
        throw notSupported('A field cannot have a subquery.', 'SELECT');
      },
      onAggregate: () => {},
    };
  }

  #guess(name: string): Type {
    this.#guesses ??= new Map(
      this.#table.columns.flatMap((column): [string, Type][] => {
        const { expression = { kind: 'column', table: null, name: column.name } } = column;
        return expression.kind === 'column' ? [[expression.name.toLowerCase(), typeOf(column.datatype)]] : [];
      }),
    );
    return this.#guesses.get(name.toLowerCase()) ?? 'Unknown';
  }

  /** Returns the value of the expression of a column. */
  expression({ name, expression }: TableColumn): Typed {
    return resolveExpression(expression ?? { kind: 'column', table: null, name }, this.#place);
  }

  /** Returns the value of a column as the datatype that it is declared to be. */
  value(column: TableColumn): Typed {
    const found = this.expression(column);
    if (found.type === 'Interval')
      throw notSupported(`The field \`${column.name}\` is an interval.`, column.name);
    // The declaration of this field is all that is known of a column alone.
    const arg: Typed = found.kind === 'column' ? { ...found, type: 'Unknown' } : found;
    const type = typeOf(column.datatype);
    return type === 'Unknown' ? arg : { kind: 'declared', arg, type };
  }

  type(column: TableColumn): Type {
    let type = this.#types.get(column);
    if (type === undefined) {
      type = this.value(column).type;
      this.#types.set(column, type);
    }
    return type;
  }
}

const sourceAlias = ({ source }: Table): string => uniqueName(source.table, new Set());

/**
 * The type of a field's expression over the columns of its table; throws SqlRefusal if it is no expression of one row,
 * or names another table.
 */
export const typeOfField = (table: Table, column: TableColumn): Type =>
  new Fields(table, { id: -1, alias: sourceAlias(table) }).expression(column).type;

/** One use of a table in the statement that is being resolved, or with WITH all of them. */
class Use {
  readonly #table: Table;
  readonly #used = new Set<TableColumn>();
  readonly #fields: Fields;
  readonly #printed: Map<TableColumn, string>;
  /** Complete when all is resolved: then it is known which columns are used. */
  readonly query: ResolvedSelect;

  constructor(table: Table, range: Range) {
    this.#table = table;
    this.#fields = new Fields(table, range);
    const taken = new Set<string>();
    this.#printed = new Map(table.columns.map((column) => [column, uniqueName(column.name, taken)]));
    this.query = {
      kind: 'select',
      distinct: false,
      outputs: [],
      from: [{ kind: 'table', range, source: table.source }],
      where: null,
      group: [],
      having: null,
      with: [],
      order: [],
      limit: null,
      offset: null,
      columns: [],
      correlated: false,
    };
  }

  columns(range: Range, table: string): Visible[] {
    return this.#table.columns.map((column) => ({
      name: column.name,
      table,
      read: () => {
        this.#used.add(column);
        return columnOf(range, this.#printed.get(column)!, this.#fields.type(column));
      },
    }));
  }

  finish(): void {
    const { outputs, columns } = this.query;
    for (const column of this.#table.columns) {
      if (!this.#used.has(column)) continue;
      const value = this.#fields.value(column);
      outputs.push(value);
      columns.push({ name: column.name, printed: this.#printed.get(column)!, type: value.type });
    }
    // `count(*)` reads no column, and a SELECT needs one.
    if (outputs.length === 0) {
      outputs.push(numberConstant('1')! as Typed);
      columns.push({ name: 'one', printed: 'one', type: 'Integer' });
    }
  }
}

/** On SQLite a date of a table has any form; elsewhere this changes nothing. */
const declaredOf = (column: Typed & { kind: 'column' }): Typed =>
  column.type === 'Unknown'
    ? column
    : { kind: 'declared', arg: { ...column, type: 'Unknown' }, type: column.type };

type Entered =
  | { kind: 'table'; source: Source | ResolvedCte; columns(range: Range, name: string): Visible[] }
  | { kind: 'subquery'; query: ResolvedSelect; columns(range: Range, name: string): Visible[] };

/** The tables that a statement may read, and those that it does. */
export class Datasets {
  readonly #tables: readonly Table[];
  readonly #inline: boolean;
  readonly #range: (alias: string) => Range;
  readonly #names: Map<Table, string>;
  readonly #used = new Set<Table>();
  readonly #uses: Use[] = [];
  readonly #ctes = new Map<Table, { cte: ResolvedCte; use: Use }>();

  /** `inline`: each use is a subquery of its own and not the one WITH query. */
  constructor(
    tables: readonly Table[],
    { inline, range, names }: { inline: boolean; range: (alias: string) => Range; names: Set<string> },
  ) {
    this.#tables = tables;
    this.#inline = inline;
    this.#range = range;
    this.#names = new Map(tables.map((table) => [table, uniqueName(table.name, names)]));
  }

  find(name: string): Table | null {
    const found = matching(this.#tables, name, (table) => table.name);
    if (found.length > 1)
      throw new SqlRefusal('unknown_table', `Several tables are called \`${name}\`.`, {
        name,
        suggestions: found.map((table) => table.name),
      });
    return found[0] ?? null;
  }

  names(): string[] {
    return this.#tables.map(({ name }) => name);
  }

  used(): Table[] {
    return this.#tables.filter((table) => this.#used.has(table));
  }

  enter(table: Table): Entered {
    this.#used.add(table);
    if (table.columns.every(({ expression }) => expression === undefined)) {
      const columns = (range: Range, name: string): Visible[] =>
        table.columns.map((column) => ({
          name: column.name,
          table: name,
          read: () => declaredOf(columnOf(range, column.name, typeOf(column.datatype))),
        }));
      return { kind: 'table', source: table.source, columns };
    }
    if (this.#inline) {
      const use = this.#use(table);
      return { kind: 'subquery', query: use.query, columns: (range, name) => use.columns(range, name) };
    }
    let named = this.#ctes.get(table);
    if (!named) {
      const use = this.#use(table);
      named = { use, cte: { name: this.#names.get(table)!, query: use.query } };
      this.#ctes.set(table, named);
    }
    const { use, cte } = named;
    return { kind: 'table', source: cte, columns: (range, name) => use.columns(range, name) };
  }

  #use(table: Table): Use {
    const use = new Use(table, this.#range(sourceAlias(table)));
    this.#uses.push(use);
    return use;
  }

  /** The WITH queries, of the columns that are used. Nothing is resolved after it. */
  finish(): ResolvedCte[] {
    for (const use of this.#uses) use.finish();
    return [...this.#ctes.values()].map(({ cte }) => cte);
  }
}
