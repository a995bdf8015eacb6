import { z } from 'zod';
import { type Json, json } from '../database/index.ts';
import { optional } from '../http/index.ts';
import type { Reference, Referred } from './references.ts';

interface Codec<V = unknown, C = unknown> {
  write(value: V): C;
  read(column: C): V;
}

interface Parts<S, C, P, O> {
  /** The schema of a value, as it was given. */
  schema: S;
  create: C;
  patch: P;
  shown: O;
  /** The value of a body that leaves the field out; undefined if it is required. */
  fallback: unknown;
  isFixed?: boolean;
  isElsewhere?: boolean;
  isJson?: boolean;
  codec?: Codec;
  references?: readonly Reference[];
  as?: string;
}

/**
 * A field that clients set: its schemas in the body that creates, in the body that changes and in responses, and the type
 * of its column.
 */
export class Field<
  S extends z.ZodType = z.ZodType,
  C extends z.ZodType = z.ZodType,
  P extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  Column = unknown,
> {
  /** Only a type. */
  declare readonly column: Column;
  readonly schema: S;
  readonly create: C;
  readonly patch: P;
  readonly shown: O;
  readonly fallback: unknown;
  readonly isFixed: boolean;
  readonly isElsewhere: boolean;
  readonly isJson: boolean;
  readonly codec: Codec | undefined;
  readonly references: readonly Reference[];
  /** The name of the field in a workspace document; undefined: the same as in a body. */
  readonly as: string | undefined;

  constructor(parts: Parts<S, C, P, O>) {
    this.schema = parts.schema;
    this.create = parts.create;
    this.patch = parts.patch;
    this.shown = parts.shown;
    this.fallback = parts.fallback;
    this.isFixed = parts.isFixed ?? false;
    this.isElsewhere = parts.isElsewhere ?? false;
    this.isJson = parts.isJson ?? false;
    this.codec = parts.codec;
    this.references = parts.references ?? [];
    this.as = parts.as;
  }

  /** The value that null in a change stands for. */
  filled(value: unknown): unknown {
    return value === null && this.fallback !== undefined ? this.fallback : value;
  }

  /** A response shows the value by this schema. */
  shownAs<W extends z.ZodType>(shown: W): Field<S, C, P, W, Column> {
    return new Field({ ...this, shown });
  }

  /** Describes the field in the body that changes. */
  patchedAs(description: string): Field<S, C, P, O, Column> {
    return new Field({ ...this, patch: this.patch.describe(description) });
  }

  /** The field is given at the creation and never changes. A change may repeat it: its rule refuses another value. */
  fixed(description?: string): Field<S, C, P, O, Column> {
    const patch = description === undefined ? this.patch : this.patch.describe(description);
    return new Field({ ...this, patch, isFixed: true });
  }

  /** Describes the field in the body that creates. */
  createdAs(description: string): Field<S, C, P, O, Column> {
    return new Field({ ...this, create: this.create.describe(description) });
  }

  /** null in a change resets the field to its default. */
  resettable(): Field<S, C, z.ZodOptional<z.ZodNullable<S>>, O, Column> {
    return new Field({ ...this, patch: this.schema.nullable().optional() });
  }

  json(): Field<S, C, P, O, Json<z.output<C>>> {
    const write = (value: unknown) => (value === null ? null : json(value));
    return new Field({ ...this, isJson: true, codec: { write, read: (column) => column } });
  }

  /** The column holds something else than the value. */
  stored<K>(codec: Codec<z.output<C>, K>): Field<S, C, P, O, K> {
    return new Field({ ...this, codec });
  }

  /** A workspace document calls the field `as`. */
  namedAs(as: string): Field<S, C, P, O, Column> {
    return new Field({ ...this, as });
  }

  /**
   * The value is an id, or a list of ids or of what has one. A workspace document has names, and calls the field `as`. A
   * field may refer to several kinds.
   */
  refersTo(to: Referred, as: string, more: Omit<Reference, 'to'> = {}): Field<S, C, P, O, Column> {
    return new Field({ ...this, as, references: [...this.references, { to, ...more }] });
  }
}

/** A text is shown without its limits, so that a stored one is still returned after they become stricter. */
const shownOf = <S extends z.ZodType>(schema: S): S | z.ZodString => {
  const { openapi, description } = schema.meta() ?? {};
  const isText = typeof openapi === 'object' && openapi !== null && 'maxLength' in openapi;
  if (!isText || !(schema instanceof z.ZodString)) return schema;
  return description === undefined ? z.string() : z.string().describe(description);
};

/** A field that a create must have. */
export const required = <S extends z.ZodType>(schema: S) =>
  new Field<S, S, z.ZodOptional<S>, S | z.ZodString, z.output<S>>({
    schema,
    create: schema,
    patch: schema.optional(),
    shown: shownOf(schema),
    fallback: undefined,
  });

/** A field that has `fallback` when a create leaves it out. It is never null. */
export const withDefault = <S extends z.ZodType, const D extends z.output<S>>(schema: S, fallback: D) => {
  const create = optional(schema, fallback);
  return new Field<S, typeof create, z.ZodOptional<S>, S | z.ZodString, z.output<S>>({
    schema,
    create,
    patch: schema.optional(),
    shown: shownOf(schema),
    fallback,
  });
};

/** A field that may be null, and is when a create leaves it out. */
export const nullable = <S extends z.ZodType>(schema: S) => {
  const create = optional(schema, null);
  const shown = z.nullable(shownOf(schema));
  return new Field<S, typeof create, z.ZodOptional<z.ZodNullable<S>>, typeof shown, z.output<S> | null>({
    schema,
    create,
    patch: schema.nullable().optional(),
    shown,
    fallback: null,
  });
};

/** A field that the rules of its resource store: it has no column that is written like the others. */
export const elsewhere = <C extends z.ZodType, P extends z.ZodType, O extends z.ZodType>(schemas: {
  create: C;
  patch: P;
  shown: O;
  fallback?: unknown;
}) =>
  new Field<C, C, P, O, never>({
    fallback: undefined,
    ...schemas,
    schema: schemas.create,
    isElsewhere: true,
  });
