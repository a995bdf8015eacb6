import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Range, ResolvedCte, ResolvedSelect, Source, Table, TableColumn, Typed } from '../resolved.ts';
import { type Type, typeOf } from '../types.ts';
import { numberConstant } from '../values.ts';
import { type Place, resolveExpression } from './expression.ts';
import { matching, uniqueName } from './names.ts';
import { columnOf, Scope, type Visible } from './scope.ts';

/** The types of the database's columns, as far as the fields that are nothing but a column tell them. */
const sourceTypes = (table: Table): Map<string, Type> => {
  const types = new Map<string, Type>();
  for (const { name, datatype, expression } of table.columns) {
    const column = expression === undefined ? name : expression.kind === 'column' ? expression.name : null;
    if (column !== null) types.set(column.toLowerCase(), typeOf(datatype));
  }
  return types;
};

/** The place of a field's expression: the columns of one table of the database, and nothing else. */
const sourcePlace = (table: Table, range: Range): Place => {
  const types = sourceTypes(table);
  const scope = new Scope(null);
  const anyColumn = (name: string): Typed =>
    columnOf(range, name, types.get(name.toLowerCase()) ?? 'Unknown');
  // A field may be written as `orders.amount`.
  scope.entries = [{ range, name: table.name, columns: [], anyColumn }];
  return {
    scope,
    clause: 'a field',
    aggregates: false,
    windows: false,
    query: () => {
      throw notSupported('A field cannot have a subquery.', 'SELECT');
    },
    onAggregate: () => {},
  };
};

/** The value of a column of a table: what its expression gives, as the datatype that it is declared to be. */
const fieldOf = ({ name, datatype, expression }: TableColumn, place: Place): Typed => {
  const arg = resolveExpression(expression ?? { kind: 'column', table: null, name }, place);
  if (arg.type === 'Interval') throw notSupported(`The field \`${name}\` is an interval.`, name);
  const type = typeOf(datatype);
  if (type === 'Unknown') return arg;
  // A column is only guessed to be what this same field declares.
  const plain = arg.kind === 'column';
  return { kind: 'declared', arg: plain ? { ...arg, type: 'Unknown' } : arg, type };
};

const sourceRange = (table: Table): Range => ({ id: -1, alias: uniqueName(table.source.table, new Set()) });

/**
 * The type of a field's expression over the columns of its table; throws SqlRefusal if it is no expression of one row,
 * or names another table.
 */
export const typeOfField = (table: Table, column: TableColumn): Type => {
  const place = sourcePlace(table, sourceRange(table));
  return resolveExpression(column.expression ?? { kind: 'column', table: null, name: column.name }, place)
    .type;
};

/** A table in the statement that is being resolved. */
class Dataset {
  readonly table: Table;
  readonly #direct: boolean;
  readonly #cte: ResolvedCte;
  readonly #used = new Set<TableColumn>();
  isUsed = false;

  constructor(table: Table, name: string) {
    this.table = table;
    this.#direct = table.columns.every(({ expression }) => expression === undefined);
    this.#cte = { name, query: null as unknown as ResolvedSelect };
  }

  source(): Source | ResolvedCte {
    this.isUsed = true;
    return this.#direct ? this.table.source : this.#cte;
  }

  columns(range: Range, table: string): Visible[] {
    const types = this.#direct ? null : this.#types;
    return this.table.columns.map((column) => ({
      name: column.name,
      table,
      read: () => {
        this.#used.add(column);
        if (!types) {
          const read = columnOf(range, column.name, typeOf(column.datatype));
          return column.datatype === null ? read : declaredOf(read);
        }
        return columnOf(range, this.#printed.get(column)!, types.get(column)!);
      },
    }));
  }

  get #types(): Map<TableColumn, Type> {
    const place = sourcePlace(this.table, sourceRange(this.table));
    return new Map(this.table.columns.map((column) => [column, fieldOf(column, place).type]));
  }

  get #printed(): Map<TableColumn, string> {
    const taken = new Set<string>();
    return new Map(this.table.columns.map((column) => [column, uniqueName(column.name, taken)]));
  }

  /** The WITH query of the columns that are used; null if the table is read directly. */
  cte(range: Range): ResolvedCte | null {
    if (this.#direct) return null;
    const place = sourcePlace(this.table, range);
    const printed = this.#printed;
    const columns = this.table.columns.filter((column) => this.#used.has(column));
    const outputs = columns.map((column) => fieldOf(column, place));
    const named = columns.map((column, i) => ({
      name: column.name,
      printed: printed.get(column)!,
      type: outputs[i]!.type,
    }));
    // `count(*)` reads no column, and a SELECT needs one.
    if (outputs.length === 0) {
      outputs.push(numberConstant('1')! as Typed);
      named.push({ name: 'one', printed: 'one', type: 'Integer' });
    }
    this.#cte.query = {
      kind: 'select',
      distinct: false,
      outputs,
      from: [{ kind: 'table', range, source: this.table.source }],
      where: null,
      group: [],
      having: null,
      with: [],
      order: [],
      limit: null,
      offset: null,
      columns: named,
      correlated: false,
    };
    return this.#cte;
  }
}

/** On SQLite a date of a table has any form; elsewhere this changes nothing. */
const declaredOf = (column: Typed & { kind: 'column' }): Typed => ({
  kind: 'declared',
  arg: { ...column, type: 'Unknown' },
  type: column.type,
});

/** The tables that a statement may read, and those that it does. */
export class Datasets {
  readonly #all: Dataset[];
  readonly #range: (alias: string) => Range;

  constructor(tables: readonly Table[], range: (alias: string) => Range, cteNames: Set<string>) {
    this.#range = range;
    this.#all = tables.map((table) => new Dataset(table, uniqueName(table.name, cteNames)));
  }

  find(name: string): Dataset | null {
    const found = matching(this.#all, name, ({ table }) => table.name);
    if (found.length > 1)
      throw new SqlRefusal('unknown_table', `Several tables are called \`${name}\`.`, {
        name,
        suggestions: found.map(({ table }) => table.name),
      });
    return found[0] ?? null;
  }

  names(): string[] {
    return this.#all.map(({ table }) => table.name);
  }

  used(): string[] {
    return this.#all.filter((dataset) => dataset.isUsed).map(({ table }) => table.name);
  }

  ctes(): ResolvedCte[] {
    return this.#all
      .filter((dataset) => dataset.isUsed)
      .flatMap(
        (dataset) => dataset.cte(this.#range(uniqueName(dataset.table.source.table, new Set()))) ?? [],
      );
  }
}
