import { type Datatype, datatypes } from '@agent-platform/sql';
import { isObject } from '../../lib/objects.ts';
import type { Dataset, DialectExpressions, Field, Metric, Relationship, SemanticModel } from '../ossie.ts';

/** An expression without faults and of no known type, for parts whose own expression has one. */
export const anyColumn: DialectExpressions = { dialects: [{ dialect: 'ANSI_SQL', expression: 'a_column' }] };

const strings = (given: unknown): string[] =>
  Array.isArray(given) ? given.filter((each): each is string => typeof each === 'string') : [];

const itemsOf = <T>(given: unknown, most: number, read: (item: Record<string, unknown>, i: number) => T) =>
  (Array.isArray(given) ? given : [])
    .slice(0, most)
    .map((item: unknown, i) => read(isObject(item) ? item : {}, i));

/** A part without a name gets one that no one can write, so that it is not taken for another. */
const nameOf = ({ name }: Record<string, unknown>, i: number): string =>
  typeof name === 'string' ? name : `:${i}`;

const datatypeOf = ({ datatype }: Record<string, unknown>): { datatype?: Datatype } => {
  const found = datatypes.find((each) => each === datatype);
  return found === undefined ? {} : { datatype: found };
};

const expressionOf = ({ expression }: Record<string, unknown>): DialectExpressions => {
  const dialects = itemsOf(isObject(expression) ? expression.dialects : [], 20, (each) => each).flatMap(
    ({ dialect, expression: text }) =>
      typeof dialect === 'string' && typeof text === 'string' ? [{ dialect, expression: text }] : [],
  );
  return dialects.length > 0 ? { dialects } : anyColumn;
};

const field = (given: Record<string, unknown>, i: number): Field => ({
  name: nameOf(given, i),
  expression: expressionOf(given),
  ...datatypeOf(given),
});

const dataset = (given: Record<string, unknown>, i: number): Dataset => ({
  name: nameOf(given, i),
  source: typeof given.source === 'string' ? given.source : '',
  primary_key: strings(given.primary_key),
  unique_keys: (Array.isArray(given.unique_keys) ? given.unique_keys : []).map(strings),
  fields: itemsOf(given.fields, 500, field),
});

const relationship = (given: Record<string, unknown>, i: number): Relationship => ({
  name: nameOf(given, i),
  from: typeof given.from === 'string' ? given.from : '',
  to: typeof given.to === 'string' ? given.to : '',
  from_columns: strings(given.from_columns),
  to_columns: strings(given.to_columns),
});

const metric = (given: Record<string, unknown>, i: number): Metric => ({
  name: nameOf(given, i),
  expression: expressionOf(given),
  ...datatypeOf(given),
});

/**
 * A model in its form, made of one that is not: each part keeps its position, and what cannot be read is harmless. It is
 * for finding the faults of the other parts and is neither stored nor run.
 */
export const repaired = (given: unknown): SemanticModel => {
  const model = isObject(given) ? given : {};
  return {
    name: nameOf(model, 0),
    datasets: itemsOf(model.datasets, 100, dataset),
    relationships: itemsOf(model.relationships, 300, relationship),
    metrics: itemsOf(model.metrics, 500, metric),
  };
};
