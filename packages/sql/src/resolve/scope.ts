import { matching } from '../names.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Range, Typed } from '../resolved.ts';
import type { Type } from '../types.ts';

/** A column that can be named: by its table or, if it is `visible`, alone. */
export interface Visible {
  name: string;
  /** The name of its table as the user wrote it; null for one that a USING has merged. */
  table: string | null;
  /** Returns the expression of the column. A call counts as a use. */
  read(): Typed;
}

/** A table in FROM. */
export interface Entry {
  range: Range;
  /** The alias as the user wrote it. */
  name: string;
  columns: Visible[];
  /** Every column name exists: those of the database, which no one has listed. Null: only `columns`. */
  anyColumn: ((name: string) => Typed) | null;
}

export const columnOf = (range: Range, name: string, type: Type): Typed & { kind: 'column' } => ({
  kind: 'column',
  range,
  name,
  type,
});

const unknownColumn = (
  shown: string,
  at: number | undefined,
  suggestions: string[],
  message = `The column \`${shown}\` does not exist.`,
): SqlRefusal =>
  new SqlRefusal('unknown_column', message + didYouMean(suggestions), {
    name: shown,
    position: at ?? null,
    suggestions,
  });

/** Names that the expressions of one SELECT can use. */
export class Scope {
  entries: Entry[] = [];
  /** Columns that can be named without a table, in the order of `SELECT *`. */
  visible: Visible[] = [];
  readonly parent: Scope | null;
  /** True if something inside reads a column of a scope around it. */
  correlated = false;

  constructor(parent: Scope | null) {
    this.parent = parent;
  }

  /** The aliases in this scope and those around it, in small letters: no other table may have them. */
  aliases(): Set<string> {
    const taken = this.parent?.aliases() ?? new Set<string>();
    for (const { range } of this.entries) taken.add(range.alias.toLowerCase());
    return taken;
  }

  owns(range: Range): boolean {
    return this.entries.some((entry) => entry.range === range);
  }

  /** The table of FROM that users call `name`, here only. */
  entry(name: string): Entry | null {
    return matching(this.entries, name, (entry) => entry.name)[0] ?? null;
  }

  /** Returns the columns that `*`, or `table.*`, stands for. */
  star(table: string | null, at: number | undefined): { name: string; value: Typed }[] {
    const entry = table === null ? null : this.entry(table);
    if (table !== null && !entry)
      throw new SqlRefusal('unknown_table', `The table \`${table}\` is not in FROM.`, {
        name: table,
        position: at ?? null,
        suggestions: nearest(
          table,
          this.entries.map(({ name }) => name),
        ),
      });
    const columns = entry ? entry.columns : this.visible;
    if (columns.length === 0) throw notSupported('`*` needs a table with columns in FROM.', '*', at);
    return columns.map((column) => ({ name: column.name, value: { ...column.read(), at } }));
  }

  column(table: string | null, name: string, at: number | undefined): Typed {
    const found = table === null ? this.#alone(name, at) : this.#ofTable(table, name, at);
    return { ...found, at };
  }

  #ofTable(table: string, name: string, at: number | undefined): Typed {
    for (let scope: Scope | null = this; scope; scope = scope.parent) {
      const entry = scope.entry(table);
      if (!entry) continue;
      const [column, other] = matching(entry.columns, name, (each) => each.name);
      if (column && other) {
        const suggestions = [column, other].map((each) => `${table}.${each.name}`);
        throw unknownColumn(`${table}.${name}`, at, suggestions, `Several columns are called \`${name}\`.`);
      }
      if (!column && !entry.anyColumn) {
        const names = entry.columns.map((each) => each.name);
        throw unknownColumn(`${table}.${name}`, at, nearest(name, names));
      }
      this.#leave(scope);
      return column ? column.read() : entry.anyColumn!(name);
    }
    const tables = this.#everywhere((scope) => scope.entries.map((entry) => entry.name));
    const suggestions = nearest(table, tables).map((each) => `${each}.${name}`);
    throw unknownColumn(`${table}.${name}`, at, suggestions, `The table \`${table}\` is not in FROM.`);
  }

  #alone(name: string, at: number | undefined): Typed {
    for (let scope: Scope | null = this; scope; scope = scope.parent) {
      const found = matching(scope.visible, name, (each) => each.name);
      if (found.length > 1) {
        const suggestions = found.map((each) => `${each.table}.${each.name}`);
        const isOneTable = found.every((each) => each.table === found[0]!.table);
        const message = isOneTable
          ? `Several columns are called \`${name}\`.`
          : `The column \`${name}\` is in several tables.`;
        throw unknownColumn(name, at, suggestions, message);
      }
      const open = scope.entries.find((entry) => entry.anyColumn);
      if (found.length === 0 && !open) continue;
      this.#leave(scope);
      return found[0] ? found[0].read() : open!.anyColumn!(name);
    }
    if (this.#everywhere((scope) => (scope.entry(name) ? [name] : [])).length > 0)
      throw unknownColumn(name, at, [], `\`${name}\` is a table. Name one of its columns.`);
    const names = this.#everywhere((scope) => scope.visible.map((each) => each.name));
    throw unknownColumn(name, at, nearest(name, new Set(names)));
  }

  #leave(owner: Scope): void {
    for (let scope: Scope | null = this; scope && scope !== owner; scope = scope.parent)
      scope.correlated = true;
  }

  #everywhere(namesOf: (scope: Scope) => string[]): string[] {
    return [...namesOf(this), ...(this.parent ? this.parent.#everywhere(namesOf) : [])];
  }
}
