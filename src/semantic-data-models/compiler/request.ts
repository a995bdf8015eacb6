import { isZoneName } from '@agent-platform/cron';
import { z } from 'zod';
import { badRequest, unprocessable } from '../../lib/errors.ts';
import { showPath } from '../../lib/text.ts';

const granularities = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Granularity = (typeof granularities)[number];

const operators = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'gt',
  'gte',
  'lt',
  'lte',
  'between',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'is_null',
  'is_not_null',
  'in_period',
] as const;
export type Operator = (typeof operators)[number];

const limits = {
  metrics: 20,
  dimensions: 20,
  filters: 50,
  depth: 5,
  values: 1_000,
  offset: 1_000_000,
} as const;

const name = z.string().min(1).max(300);
const via = z.array(name).max(20);

const dimension = z.union([
  name.transform((field) => ({ field })),
  z.strictObject({
    field: name,
    granularity: z.enum(granularities).optional(),
    via: via.optional(),
    as: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be a name of letters, digits and `_`')
      .optional(),
  }),
]);

const value = z.union([z.string(), z.number(), z.boolean()], 'must be text, a number, true or false');

const condition = z
  .strictObject({
    field: name.optional(),
    metric: name.optional(),
    operator: z.enum(operators),
    values: z.array(value).max(limits.values, `must have at most ${limits.values} values`).optional(),
    via: via.optional(),
  })
  .refine((one) => (one.field === undefined) !== (one.metric === undefined), 'needs `field` or `metric`')
  .refine((one) => one.metric === undefined || one.via === undefined, 'a metric has no `via`');

export type Condition = z.output<typeof condition>;
export type Value = z.output<typeof value>;
export type Filter = Condition | { and: Filter[] } | { or: Filter[] } | { not: Filter };

/** A filter is read by its keys, so that a fault is at the one condition that has it. */
const filter: z.ZodType<Filter> = z.lazy(() =>
  z
    .custom<Record<string, unknown>>(
      (given) => typeof given === 'object' && given !== null,
      'must be a filter',
    )
    .transform((given, context): Filter => {
      const keys = Object.keys(given);
      const group = keys.find((key) => key === 'and' || key === 'or' || key === 'not');
      const schema =
        group === undefined
          ? condition
          : z.strictObject(
              group === 'not' ? { not: filter } : { [group]: z.array(filter).min(1, 'must have a filter') },
            );
      const read = schema.safeParse(given);
      if (read.success) return read.data as Filter;
      for (const issue of read.error.issues)
        context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
      return z.NEVER;
    }),
);

const structuredQuery = z.strictObject({
  metrics: z.array(name).max(limits.metrics, `must have at most ${limits.metrics} metrics`).default([]),
  dimensions: z
    .array(dimension)
    .max(limits.dimensions, `must have at most ${limits.dimensions} dimensions`)
    .default([]),
  filters: z.array(filter).default([]),
  order: z
    .array(z.strictObject({ by: name, direction: z.enum(['asc', 'desc']).default('asc') }))
    .max(limits.metrics + limits.dimensions)
    .default([]),
  offset: z.int().min(0).max(limits.offset).default(0),
  timezone: z.string().refine(isZoneName, 'must be a time zone such as Europe/Berlin').default('UTC'),
  as_of: z.iso.datetime({ offset: true }).optional(),
  distinct: z.boolean().default(false),
});

export type StructuredQuery = z.output<typeof structuredQuery>;

/** Called before a schema walks the filters. */
const nestsTooDeep = (filters: unknown, depth = 1): boolean => {
  if (filters === null || typeof filters !== 'object') return false;
  const inner = Array.isArray(filters) ? filters : [filters];
  return inner.some((one) => {
    if (one === null || typeof one !== 'object') return false;
    const groups = ['and', 'or', 'not'].filter((key) => Object.hasOwn(one, key));
    if (groups.length === 0) return false;
    return (
      depth >= limits.depth ||
      groups.some((key) => nestsTooDeep((one as Record<string, unknown>)[key], depth + 1))
    );
  });
};

const countConditions = (filters: readonly Filter[]): number =>
  filters.reduce((sum, one) => {
    if ('and' in one) return sum + countConditions(one.and);
    if ('or' in one) return sum + countConditions(one.or);
    if ('not' in one) return sum + countConditions([one.not]);
    return sum + 1;
  }, 0);

/** A structured query as it was sent, checked. Throws 422 with the path of each fault, below `query`. */
export const readRequest = (given: unknown): StructuredQuery => {
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw badRequest('`query` must be an object.');
  if (nestsTooDeep((given as { filters?: unknown }).filters)) {
    throw unprocessable([{ path: 'query.filters', message: `must nest at most ${limits.depth} deep` }]);
  }
  const read = structuredQuery.safeParse(given);
  if (!read.success) {
    throw unprocessable(
      read.error.issues
        .slice(0, 100)
        .map(({ path, message }) => ({ path: showPath(['query', ...path]), message })),
    );
  }
  const query = read.data;
  if (countConditions(query.filters) > limits.filters) {
    throw unprocessable([
      { path: 'query.filters', message: `must have at most ${limits.filters} conditions` },
    ]);
  }
  if (query.metrics.length + query.dimensions.length === 0) {
    throw unprocessable([{ path: 'query', message: 'must have a metric or a dimension' }]);
  }
  return query;
};
