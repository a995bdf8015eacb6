import { z } from 'zod';
import { optional } from '../http/index.ts';
import { mapValues, withoutUndefined } from '../lib/objects.ts';
import type { Field } from './field.ts';

type GroupFields = Record<string, Field>;

export type Shape = Record<string, Field | Group>;

export type GroupValues<F extends GroupFields> = { [K in keyof F]: z.output<F[K]['create']> };

/** Changes of a group: an absent key stays as it is, null resets it to its default. */
export type GroupChanges<F extends GroupFields> = {
  [K in keyof F]?: z.output<F[K]['create']> | null | undefined;
};

/**
 * Fields that are columns of the row, and one object in bodies and responses. Each has a default; a change is merged key
 * by key.
 */
export class Group<F extends GroupFields = GroupFields> {
  readonly fields: F;
  readonly fallback: GroupValues<F>;

  constructor(fields: F) {
    this.fields = fields;
    this.fallback = mapValues(fields, (field) => field.fallback) as GroupValues<F>;
  }

  /** In the body that creates: its output has every key. */
  get create() {
    const keys = mapValues(this.fields, ({ schema }) => optional(schema));
    const merged = z.object(keys).transform((given) => ({
      ...this.fallback,
      ...this.filled(given as GroupChanges<F>),
    }));
    return optional(merged, this.fallback);
  }

  get patch() {
    const keys = mapValues(this.fields, ({ schema }) =>
      (schema instanceof z.ZodNullable ? schema : schema.nullable()).optional(),
    ) as { [K in keyof F]: z.ZodOptional<z.ZodNullable<F[K]['schema']>> };
    return z.object(keys).optional().describe('Merged key by key; null resets a key to its default.');
  }

  get shown() {
    return z.object(mapValues(this.fields, ({ shown }) => shown) as { [K in keyof F]: F[K]['shown'] });
  }

  /** Returns the keys that `changes` has, with the defaults in place of null. */
  filled(changes: GroupChanges<F>): Partial<GroupValues<F>> {
    return mapValues(withoutUndefined(changes), (value, key) => this.fields[key]!.filled(value)) as Partial<
      GroupValues<F>
    >;
  }
}
