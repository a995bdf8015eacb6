import { z } from 'zod';
import { isObject } from '../lib/objects.ts';
import { characters } from '../lib/text.ts';
import { readCursor } from './pages.ts';

/**
 * Describes a schema in the document by `openapi`, if JSON Schema cannot be derived from it (a custom check, a query
 * parameter that arrives as text).
 */
const described = <S extends z.ZodType>(schema: S, openapi: Record<string, unknown>): S =>
  schema.meta({ openapi }) as S;

/**
 * An optional field of a create or replace body. null is the same as leaving it out: the value is then `fallback`,
 * which the document names as the default unless it is null.
 */
export const optional = <S extends z.ZodType, D = undefined>(schema: S, fallback?: D) => {
  const field = schema.nullish().transform((value) => (value ?? fallback) as z.output<S> | D);
  return fallback === undefined || fallback === null ? field : field.meta({ fallback });
};

/** A free-form JSON object, kept as it was sent, including a key `__proto__`. */
export const jsonObject = described(z.custom<Record<string, unknown>>(isObject, 'must be an object'), {
  type: 'object',
  additionalProperties: true,
});

/** Any JSON value. */
export const jsonValue = described(
  z.custom<unknown>((value) => value !== undefined),
  {
    description: 'Any JSON value.',
  },
);

/**
 * A field of a body that the document describes like `schema`, and that the handler checks: whether it matters depends
 * on the row.
 */
export const checkedLater = (schema: z.ZodType) =>
  z
    .custom<unknown>(() => true)
    .optional()
    .meta({ openapi: schema });

/** Text of `min` to `max` Unicode code points. */
export const text = (max: number, min = 0) =>
  described(
    z
      .string()
      .refine((value) => characters(value) <= max, `must have at most ${max.toLocaleString('en')} characters`)
      .refine(
        (value) => characters(value) >= min,
        `must have at least ${min} character${min === 1 ? '' : 's'}`,
      ),
    { type: 'string', maxLength: max, ...(min > 0 ? { minLength: min } : {}) },
  );

export const id = described(z.string(), { type: 'string', format: 'uuid' });

const mostIds = 1_000;

/** A list of ids. A list that is too long is refused before its items are checked, because each fault costs memory. */
export const idList = described(
  z
    .custom<unknown[]>((value) => Array.isArray(value), 'expected an array')
    .refine((value) => value.length <= mostIds, `must have at most ${mostIds.toLocaleString('en')} items`),
  { type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: mostIds },
).pipe(z.array(id));

/** A time in a response: UTC, RFC 3339 with milliseconds and `Z`. Stores return a Date. */
export const timestamp = described(z.union([z.date().transform((date) => date.toISOString()), z.string()]), {
  type: 'string',
  format: 'date-time',
  examples: ['2026-01-31T08:00:00.000Z'],
});

/** A whole number in a query string. */
export const queryInteger = (min: number, max: number, fallback: number) =>
  described(
    z
      .string()
      .optional()
      .refine(
        (value) =>
          value === undefined || (/^\d{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max),
        {
          message: `must be a whole number from ${min} to ${max}`,
        },
      )
      .transform((value) => (value === undefined ? fallback : Number(value))),
    { type: 'integer', minimum: min, maximum: max, default: fallback },
  );

/** A whole number in a query string, undefined if it is absent. */
export const optionalQueryInteger = (min: number, max: number) =>
  described(queryInteger(min, max, min).optional(), { type: 'integer', minimum: min, maximum: max });

/** A list in a query string: the parameter is there several times, or its values have commas between them. */
export const queryList = <S extends z.ZodType<unknown, string>>(item: S, most: number) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((one) => one.split(',')))
    .refine((values) => values.length <= most, `must have at most ${most} values`)
    .transform((values, context) =>
      values.map((value): z.output<S> => {
        const parsed = item.safeParse(value);
        if (parsed.success) return parsed.data;
        context.addIssue({ code: 'custom', message: parsed.error.issues[0]!.message });
        return z.NEVER;
      }),
    )
    .meta({ openapi: z.array(item).max(most) });

/** A time in a query string or a filter, in milliseconds since 1970. */
export const givenTime = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z (RFC 3339)' })
  .transform((value) => Date.parse(value));

export const limit = queryInteger(1, 200, 50);
const offset = queryInteger(0, 1_000_000_000, 0);

/** The id in `?next=`; null at the first page. */
const next = z
  .string()
  .optional()
  .transform((value, context) => {
    if (value === undefined || value === '') return null;
    const id = readCursor(value);
    if (id === null) context.addIssue({ code: 'custom', message: 'is not the `next` of an earlier page' });
    return id;
  })
  .describe('The `next` of the page before, unchanged.');

/** The query of a list with the envelope `data`, `has_more`, `next`. Its output is a `Page`. */
export const pageQuery = z.object({ limit, next });

/** The query of a list with `records`, `total_count`, `next_offset`. */
export const offsetQuery = z.object({ limit, offset });

/** The query of conversations and audits: `offset` or `next`, not both. */
export const pageOrOffsetQuery = pageQuery.extend({
  offset: described(offset.optional(), { type: 'integer', minimum: 0 }),
});

/** The steps of a test of a connection. Each `detail` is for a person, so it contains no secret. */
export const stepsOf = <const S extends readonly string[]>(names: S) =>
  z
    .array(z.object({ step: z.enum(names), ok: z.boolean(), detail: z.string() }))
    .describe('In order; the first that failed is the last.');
