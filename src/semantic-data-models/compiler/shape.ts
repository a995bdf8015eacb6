import { datatypes } from '@agent-platform/sql';
import { z } from 'zod';
import { mostFaults, showPath } from '../../lib/text.ts';
import type { Issue } from '../issues.ts';

/** The form of a model: Ossie's keys, and how much of each there may be. Keys that are not Ossie's are kept. */

const name = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
    'must be a name of letters, digits and `_`, at most 128 characters',
  );
const text = z.string().max(10_000, 'must have at most 10000 characters');
const columns = z.array(z.string().min(1).max(128)).min(1, 'must have a column').max(32);
const list = <T extends z.ZodType>(item: T, most: number, what: string) =>
  z.array(item).max(most, `must have at most ${most} ${what}`);

const aiContext = z.union(
  [
    text,
    z.looseObject({
      instructions: text.optional(),
      synonyms: list(text, 100, 'synonyms').optional(),
      examples: list(text, 100, 'examples').optional(),
    }),
  ],
  'must be text, or an object with instructions, synonyms and examples',
);

const described = {
  description: text.optional(),
  ai_context: aiContext.optional(),
  custom_extensions: z.array(z.looseObject({ vendor_name: z.string(), data: z.string() })).optional(),
};

const expression = z.looseObject({
  dialects: list(z.looseObject({ dialect: z.string(), expression: z.string() }), 20, 'dialects').min(
    1,
    'must have an expression',
  ),
});
const datatype = z.enum(datatypes, `must be one of ${datatypes.join(', ')}`).optional();

const field = z.looseObject({
  name,
  expression,
  datatype,
  dimension: z.looseObject({ is_time: z.boolean().optional() }).optional(),
  label: text.optional(),
  ...described,
});

const dataset = z.looseObject({
  name,
  source: z.string().min(1).max(500),
  primary_key: columns.optional(),
  unique_keys: list(columns, 50, 'unique keys').optional(),
  fields: list(field, 500, 'fields').optional(),
  ...described,
});

const relationship = z.looseObject({
  name,
  from: z.string(),
  to: z.string(),
  from_columns: columns,
  to_columns: columns,
  ...described,
});

const metric = z.looseObject({ name, expression, datatype, ...described });

const model = z.looseObject({
  name: z.string().min(1).max(200),
  datasets: list(dataset, 100, 'datasets').min(1, 'must have a dataset'),
  relationships: list(relationship, 300, 'relationships').optional(),
  metrics: list(metric, 500, 'metrics').optional(),
  ...described,
});

/** The model in its form, or all that is wrong with the form. Paths begin with `semantic_model`. */
export const readShape = (given: unknown): { model: z.output<typeof model> } | { faults: Issue[] } => {
  const read = model.safeParse(given);
  if (read.success) return { model: read.data };
  const faults = read.error.issues.slice(0, mostFaults).map(
    (issue): Issue => ({
      severity: 'error',
      code: 'static_rule',
      path: showPath(['semantic_model', ...issue.path]),
      message: issue.message,
      suggestions: [],
    }),
  );
  return { faults };
};

const ownDescribed = ['name', 'description', 'ai_context', 'custom_extensions'];
const known = {
  model: [...ownDescribed, 'datasets', 'relationships', 'metrics'],
  dataset: [...ownDescribed, 'source', 'primary_key', 'unique_keys', 'fields'],
  field: [...ownDescribed, 'expression', 'datatype', 'dimension', 'label'],
  relationship: [...ownDescribed, 'from', 'to', 'from_columns', 'to_columns'],
  metric: [...ownDescribed, 'expression', 'datatype'],
};

/** A warning for each key that is not Ossie's. */
export const unknownKeys = (given: z.output<typeof model>): Issue[] => {
  const warnings: Issue[] = [];
  const look = (value: object, keys: readonly string[], path: (string | number)[]): void => {
    for (const key of Object.keys(value)) {
      if (keys.includes(key) || warnings.length >= mostFaults) continue;
      warnings.push({
        severity: 'warning',
        code: 'unknown_key',
        path: showPath(['semantic_model', ...path, key]),
        message: 'is kept, and means nothing here',
        suggestions: [],
      });
    }
  };
  look(given, known.model, []);
  for (const [i, each] of given.datasets.entries()) {
    look(each, known.dataset, ['datasets', i]);
    for (const [k, one] of (each.fields ?? []).entries())
      look(one, known.field, ['datasets', i, 'fields', k]);
  }
  for (const [i, each] of (given.relationships ?? []).entries())
    look(each, known.relationship, ['relationships', i]);
  for (const [i, each] of (given.metrics ?? []).entries()) look(each, known.metric, ['metrics', i]);
  return warnings;
};
