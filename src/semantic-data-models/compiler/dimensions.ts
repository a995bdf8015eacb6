import { build, type Datatype, type Expression, nearest } from '@agent-platform/sql';
import { didYouMean, refused } from './faults.ts';
import type { Joins } from './joins.ts';
import type { FoundField, Model } from './model.ts';
import type { Granularity, StructuredQuery } from './request.ts';

/** A dimension of a query, with the name of its column. */
export interface ReadDimension {
  found: FoundField;
  /** As the model writes it: `orders.order_date`. */
  fullName: string;
  name: string;
  path: string;
  via: readonly string[];
  granularity: Granularity | null;
  /** That of the field. */
  fieldDatatype: Datatype | null;
  /** That of the column. */
  datatype: Datatype | null;
}

const finerThanDay: readonly Granularity[] = ['second', 'minute', 'hour'];

const datatypeOf = (
  field: Datatype | null,
  granularity: Granularity | undefined,
  path: string,
): Datatype | null => {
  if (granularity === undefined) return field;
  const wrong = (message: string) => refused(`${path}.granularity`, message, { reason: 'not_supported' });
  if (field === 'Date') {
    if (finerThanDay.includes(granularity)) throw wrong('must be a day or longer, as the field is a Date');
    return 'Date';
  }
  if (field === 'DateTime' || field === 'DateTimeTz') return 'DateTime';
  throw wrong(`is for dates; the field is ${field ?? 'of an unknown datatype'}`);
};

/** Throws 422 for a relationship that the model does not have. */
export const checkVia = (via: readonly string[], model: Model, path: string): void => {
  const names = model.graph.relationships.map(({ name }) => name);
  for (const [i, name] of via.entries()) {
    if (names.some((each) => each.toLowerCase() === name.toLowerCase())) continue;
    const suggestions = nearest(name, names);
    throw refused(`${path}.via[${i}]`, `there is no relationship \`${name}\`${didYouMean(suggestions)}`, {
      reason: 'unknown_relationship',
      name,
      suggestions,
    });
  }
};

/**
 * The dimensions with the names of their columns: `as`, else the field's name, else `dataset_field` for all that would
 * have the same. Throws 422 if two columns still have one name. `metrics` are the columns besides.
 */
export const readDimensions = (
  { dimensions }: StructuredQuery,
  metrics: readonly string[],
  model: Model,
): ReadDimension[] => {
  const read = dimensions.map((dimension, i) => {
    const {
      field,
      granularity,
      via = [],
      as,
    } = { granularity: undefined, as: undefined, via: undefined, ...dimension };
    const path = `query.dimensions[${i}]`;
    const found = model.requireField(field, path);
    checkVia(via, model, path);
    const fieldDatatype = model.datatype(found);
    const datatype = datatypeOf(fieldDatatype, granularity, path);
    const suffix = granularity === undefined ? '' : `_${granularity}`;
    return {
      found,
      fullName: `${found.dataset.name}.${found.field.name}`,
      path,
      via,
      granularity: granularity ?? null,
      fieldDatatype,
      datatype,
      short: as ?? `${found.field.name}${suffix}`,
      long: as ?? `${found.dataset.name}_${found.field.name}${suffix}`,
    };
  });
  const count = (names: readonly string[], name: string) =>
    names.filter((each) => each.toLowerCase() === name.toLowerCase()).length;
  const short = [...metrics, ...read.map((each) => each.short)];
  const names = read.map((each) => (count(short, each.short) > 1 ? each.long : each.short));
  const all = [...metrics, ...names];
  return read.map(({ short: _short, long: _long, ...each }, i) => {
    const name = names[i]!;
    if (count(all, name) > 1)
      throw refused(each.path, `the column \`${name}\` stands twice; give one another name with \`as\``, {
        reason: 'not_supported',
        name,
      });
    return { ...each, name };
  });
};

/** The value of a dimension in the rows of a base. */
export const dimensionExpression = (
  dimension: ReadDimension,
  joins: Joins,
  model: Model,
  { timezone, metric }: { timezone: string; metric: string | null },
): Expression => {
  const { found, granularity, fieldDatatype, via, path, fullName } = dimension;
  const way = model.graph.path(joins.base, found.dataset.name, via, { path, field: fullName, metric });
  const value = joins.column(way, found.field.name);
  if (granularity === null) return value;
  // Sessions are in UTC, so that a DateTime is, too: its local time is that of the zone.
  const local =
    fieldDatatype === 'DateTimeTz' || (fieldDatatype === 'DateTime' && timezone !== 'UTC')
      ? build.call('at_time_zone', [value, build.valueAs(timezone, 'String')!])
      : value;
  return build.call('date_trunc', [local], granularity);
};
