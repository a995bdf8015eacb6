import type { z } from 'zod';
import {
  type Executor,
  type Generated,
  type Insertable,
  type Json,
  planEachTime,
  type RawBuilder,
  type Selectable,
  sql,
  type Tx,
  type UpdateType,
} from '../database/index.ts';
import { mapValues, withoutUndefined } from '../lib/objects.ts';
import { Field } from './field.ts';
import { Group, type GroupChanges, type GroupValues, type Shape } from './group.ts';
import { type Referred, referencesIn } from './references.ts';

/** A column that no client sets. */
export class Column<C = unknown> {
  /** Only a type. */
  declare readonly column: C;
}

/** A column that every insert gives. */
export const column = <T>(): Column<T> => new Column();
/** A column for which the database has a default. */
export const generated = <T>(): Column<Generated<T>> => new Column();
export const jsonColumn = <T>(): Column<Json<T>> => new Column();

export const times = { created_at: generated<Date>(), updated_at: generated<Date>() };
/** The same, and the number of its changes, which is its ETag. */
export const stamps = { revision: generated<number>(), ...times };

type Columns = Record<string, Column>;

type AllOf<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** The fields that have a column, those of groups among them. */
type Stored<F extends Shape> = {
  [K in keyof F as F[K] extends Field ? ([F[K]['column']] extends [never] ? never : K) : never]: F[K];
} & AllOf<{ [K in keyof F]: F[K] extends Group<infer G> ? G : never }[keyof F]>;

/** The table of a resource, for the `Schema` of the database. */
export type TableOf<R> =
  R extends Resource<infer F, infer X>
    ? {
        [K in keyof Stored<F> | keyof X]: K extends keyof Stored<F>
          ? Stored<F>[K] extends { column: infer C }
            ? C
            : never
          : K extends keyof X
            ? X[K]['column']
            : never;
      }
    : never;

export type RowOf<R> = Selectable<TableOf<R>>;

/** The body that creates, with its defaults. */
export type ValuesOf<R> = R extends Resource<infer F, Columns> ? Values<F> : never;
/** The body that changes; fields that are left out stay. */
export type ChangesOf<R> = R extends Resource<infer F, Columns> ? Changes<F> : never;

type Values<F extends Shape> = {
  [K in keyof F]: F[K] extends Group<infer G>
    ? GroupValues<G>
    : F[K] extends Field
      ? z.output<F[K]['create']>
      : never;
};
type Changes<F extends Shape> = {
  [K in keyof F]?: F[K] extends Group<infer G>
    ? GroupChanges<G> | undefined
    : F[K] extends Field
      ? z.output<F[K]['patch']>
      : never;
};
type StoredValues<F extends Shape> = {
  [K in keyof F as F[K] extends Field ? ([F[K]['column']] extends [never] ? never : K) : K]: Values<F>[K];
};

type Without<B, K extends PropertyKey> = B extends unknown ? Omit<B, K> : never;

/** Columns that a change writes besides those of its fields. */
type Also<X extends Columns> = {
  [K in keyof X]?: UpdateType<X[K]['column']> | RawBuilder<unknown> | undefined;
};

/** The columns of the fields, as an insert takes them. */
type Writable<F extends Shape> = Insertable<{
  [K in keyof Stored<F>]: Stored<F>[K] extends { column: infer C } ? C : never;
}>;

/** A row as the rules use it: groups are objects, and every field has its value. */
export type RecordOf<R> =
  R extends Resource<infer F, infer X>
    ? StoredValues<F> & Selectable<{ [K in keyof X]: X[K]['column'] }>
    : never;

type Part<F, P extends 'create' | 'patch' | 'shown'> =
  F extends Record<P, infer S extends z.ZodType> ? S : never;

/**
 * A resource: its fields, each written once, and its other columns. The type and the columns of its row follow from it, its
 * bodies, its form in responses, its changes, and its form in a workspace document.
 */
class Resource<F extends Shape, X extends Columns> {
  readonly table: string;
  readonly fields: F;
  /** Listed, because a named statement with `*` fails after a migration that adds a column. */
  readonly columns: readonly (keyof RowOf<this> & string)[];
  readonly #stored = new Map<string, { field: Field; group: string | null }>();
  readonly #touched: Record<string, RawBuilder<unknown>>;

  constructor(table: string, fields: F, columns: X) {
    this.table = table;
    this.fields = fields;
    for (const [name, field] of Object.entries(fields)) {
      if (field instanceof Group) {
        for (const [key, one] of Object.entries(field.fields)) {
          this.#stored.set(key, { field: one, group: name });
        }
      } else if (!field.isElsewhere) this.#stored.set(name, { field, group: null });
    }
    this.#touched = {
      ...('revision' in columns && { revision: sql`revision + 1` }),
      ...('updated_at' in columns && { updated_at: sql`platform_now()` }),
    };
    this.columns = [
      ...new Set([...this.#stored.keys(), ...Object.keys(columns)]),
    ] as (typeof this.columns)[number][];
  }

  get create() {
    return mapValues(this.fields, ({ create }) => create) as { [K in keyof F]: Part<F[K], 'create'> };
  }

  /** The fields of the body that changes: what is left out stays as it is. */
  get patch() {
    return mapValues(this.fields, ({ patch }) => patch) as { [K in keyof F]: Part<F[K], 'patch'> };
  }

  get shown() {
    return mapValues(this.fields, ({ shown }) => shown) as { [K in keyof F]: Part<F[K], 'shown'> };
  }

  read(row: RowOf<this>): RecordOf<this> {
    return this.readSome(row) as RecordOf<this>;
  }

  /** Returns what a record has of some columns of a row: of a group, the keys that are there. */
  readSome(row: object): Partial<RecordOf<this>> {
    const record: Record<string, unknown> = {};
    const groups: Record<string, Record<string, unknown>> = {};
    for (const [name, column] of Object.entries(row)) {
      const stored = this.#stored.get(name);
      const value = stored?.field.codec ? stored.field.codec.read(column) : column;
      if (stored?.group) {
        groups[stored.group] ??= {};
        groups[stored.group]![name] = value;
      } else record[name] = value;
    }
    Object.assign(record, groups);
    return record as Partial<RecordOf<this>>;
  }

  /** Returns the columns of values as a row that was read has them. */
  toRow(values: object): Record<string, unknown> {
    return this.#columnsOf(values, ({ isJson }) => !isJson);
  }

  write(values: StoredValues<F>): Writable<F> {
    return this.#columnsOf(values) as Writable<F>;
  }

  /**
   * Writes what `changes` has into the locked row, and `also` into other columns, and raises its revision. Returns the row
   * as it is then. `id` null: the only row there is.
   */
  async update(tx: Tx, id: string | null, changes: Changes<F>, also: Also<X> = {}): Promise<RowOf<this>> {
    const set = Object.entries({
      ...this.#columnsOf(this.given(changes)),
      ...withoutUndefined(also),
      ...this.#touched,
    });
    // Every choice of fields is another text, so none is kept by the connection.
    const { rows } = await sql<RowOf<this>>`${planEachTime} update ${sql.table(this.table)}
      set ${sql.join(set.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}
      ${id === null ? sql`` : sql`where id = ${id}`}
      returning ${sql.join(this.columns.map((name) => sql.ref(name)))}`.execute(tx);
    return rows[0]!;
  }

  async count(executor: Executor): Promise<number> {
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from ${sql.table(this.table)}`.execute(executor);
    return rows[0]!.n;
  }

  /** Returns the id of the row with this name, whatever the case. */
  async findIdByName(executor: Executor, name: string): Promise<string | undefined> {
    const { rows } = await sql<{ id: string }>`
      select id from ${sql.table(this.table)} where lower(name) = lower(${name})`.execute(executor);
    return rows[0]?.id;
  }

  /** Returns what `body` has besides the fields. */
  besides<B extends object>(body: B): Without<B, keyof F> {
    return Object.fromEntries(
      Object.entries(body).filter(([name]) => !Object.hasOwn(this.fields, name)),
    ) as Without<B, keyof F>;
  }

  /** Returns what the values refer to, in the order of the fields, with the path of each id. */
  references(values: object): { path: string; to: Referred; text: string }[] {
    return Object.entries(this.fields).flatMap(([name, field]) =>
      field instanceof Field
        ? field.references.flatMap((one) =>
            referencesIn(one, name, (values as Record<string, unknown>)[name], 'id'),
          )
        : [],
    );
  }

  /** Returns what the changes give: without fixed fields, and with defaults in place of null where null resets. */
  given(changes: Changes<F>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(withoutUndefined(changes)).flatMap(([name, value]) => {
        const field = this.fields[name];
        return !field || (field instanceof Field && field.isFixed) ? [] : [[name, field.filled(value)]];
      }),
    );
  }

  /** Returns the names of the fields that the changes have, for the audit log. */
  changed(changes: Changes<F>): string[] {
    return Object.keys(this.given(changes));
  }

  /** Returns `before` with the changes of a body. */
  merge<B extends object>(before: B, changes: Changes<F>): B {
    const merged: Record<string, unknown> = { ...(before as Record<string, unknown>) };
    for (const [name, value] of Object.entries(this.given(changes))) {
      merged[name] =
        this.fields[name] instanceof Group ? { ...(merged[name] as object), ...(value as object) } : value;
    }
    return merged as B;
  }

  /** The columns of what `values` has. */
  #columnsOf(values: object, isCoded: (field: Field) => boolean = () => true): Record<string, unknown> {
    const columns: Record<string, unknown> = {};
    const put = (name: string, value: unknown) => {
      const field = this.#stored.get(name)?.field;
      columns[name] = field?.codec && isCoded(field) ? field.codec.write(value) : value;
    };
    for (const [name, value] of Object.entries(withoutUndefined(values))) {
      const field = this.fields[name];
      if (field instanceof Group) {
        for (const [key, one] of Object.entries(value)) put(key, one);
      } else if (field && !field.isElsewhere) put(name, value);
    }
    return columns;
  }
}

export const resource = <F extends Shape, X extends Columns>(table: string, fields: F, columns: X) =>
  new Resource(table, fields, columns);
