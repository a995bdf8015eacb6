import {
  build,
  type Expression,
  engineNames,
  mapChildren,
  nearest,
  type Query,
  resolve,
} from '@agent-platform/sql';
import { Temporal } from 'temporal-polyfill';
import type { Compiled } from '../language.ts';
import { checkVia, dimensionExpression, type ReadDimension, readDimensions } from './dimensions.ts';
import { didYouMean, refused, refusedAt } from './faults.ts';
import { type Clock, conditionsIn, filterExpression, type Subject } from './filters.ts';
import { ambiguous } from './graph.ts';
import { Joins } from './joins.ts';
import { fieldsOf, type MetricAggregate, type ReadMetric, readMetric } from './metrics.ts';
import { type FoundField, keyColumn, type Model } from './model.ts';
import { requireNames } from './names.ts';
import { type Condition, type Filter, readRequest, type StructuredQuery } from './request.ts';

interface PlacedFilter {
  filter: Filter;
  path: string;
}

/** The aggregates that are computed over the rows of one dataset. */
interface Base {
  name: string;
  aggregates: MetricAggregate[];
  /** A metric of it, for messages. */
  metric: string | null;
}

const keyOf = (value: unknown): string =>
  JSON.stringify(value, (key, each) => (key === 'at' ? undefined : each));

/** Filters about fields, which choose rows, and about metrics, which choose groups. Throws 422 for one that mixes them. */
const splitFilters = ({ filters }: StructuredQuery): { rows: PlacedFilter[]; groups: PlacedFilter[] } => {
  const rows: PlacedFilter[] = [];
  const groups: PlacedFilter[] = [];
  for (const [i, filter] of filters.entries()) {
    const path = `query.filters[${i}]`;
    const ofMetric = conditionsIn(filter, path).map(({ condition }) => condition.metric !== undefined);
    if (ofMetric.includes(true) && ofMetric.includes(false))
      throw refused(
        path,
        'filters of metrics and of fields cannot be mixed; write them one after the other',
        {
          reason: 'not_supported',
        },
      );
    (ofMetric.includes(true) ? groups : rows).push({ filter, path });
  }
  return { rows, groups };
};

/** The statement of a structured query, before it is printed. */
class Compilation {
  readonly #model: Model;
  readonly #query: StructuredQuery;
  readonly #clock: Clock;
  readonly #metrics: ReadMetric[];
  readonly #dimensions: ReadDimension[];
  readonly #rows: PlacedFilter[];
  readonly #groups: PlacedFilter[];
  /** The dates whose columns filters name, once the statement is built. */
  readonly storedDates: FoundField[] = [];
  /** All metrics that are computed, by their names in small letters: those of filters too. */
  readonly #computed = new Map<string, ReadMetric>();

  constructor(model: Model, query: StructuredQuery, now: Temporal.Instant) {
    this.#model = model;
    this.#query = query;
    this.#clock = {
      timezone: query.timezone,
      asOf: query.as_of === undefined ? now : Temporal.Instant.from(query.as_of),
    };
    this.#metrics = query.metrics.map((name, i) => {
      const read = this.#metric(name, `query.metrics[${i}]`);
      if (query.metrics.findIndex((each) => each.toLowerCase() === name.toLowerCase()) < i)
        throw refused(`query.metrics[${i}]`, `the metric \`${name}\` stands twice`, {
          reason: 'not_supported',
          name,
        });
      return read;
    });
    const names = this.#metrics.map(({ metric }) => metric.name);
    this.#dimensions = readDimensions(query, names, model);
    const { rows, groups } = splitFilters(query);
    this.#rows = rows;
    this.#groups = groups;
    for (const { condition, path } of groups.flatMap((one) => conditionsIn(one.filter, one.path)))
      this.#metric(condition.metric!, `${path}.metric`);
  }

  #metric(name: string, path: string): ReadMetric {
    const metric = this.#model.requireMetric(name, path);
    const key = metric.name.toLowerCase();
    const read = this.#computed.get(key) ?? readMetric(metric, this.#model, path);
    this.#computed.set(key, read);
    return read;
  }

  #bases(): Base[] {
    const bases = new Map<string, Base>();
    for (const { metric, aggregates } of this.#computed.values()) {
      for (const aggregate of aggregates) {
        const known = bases.get(aggregate.base);
        const base = known ?? { name: aggregate.base, aggregates: [], metric: metric.name };
        bases.set(aggregate.base, base);
        if (!base.aggregates.some(({ node }) => keyOf(node) === keyOf(aggregate.node)))
          base.aggregates.push(aggregate);
      }
    }
    return [...bases.values()];
  }

  build(): Query {
    const bases = this.#bases();
    const [base, second] = bases;
    if (!base) return this.#plain();
    return second ? this.#merged(bases) : this.#grouped(base);
  }

  #dimensionValues(joins: Joins, metric: string | null): Expression[] {
    const { timezone } = this.#clock;
    return this.#dimensions.map((dimension) =>
      dimensionExpression(dimension, joins, this.#model, { timezone, metric }),
    );
  }

  #where(joins: Joins, metric: string | null): Expression | null {
    const subject = ({ field, via = [] }: Condition, path: string): Subject => {
      const found = this.#model.requireField(field!, `${path}.field`);
      checkVia(via, this.#model, path);
      const fullName = `${found.dataset.name}.${found.field.name}`;
      const at = { path, field: fullName, metric };
      const way = this.#model.graph.path(joins.base, found.dataset.name, via, at);
      return {
        expression: joins.column(way, found.field.name),
        datatype: this.#model.datatype(found),
        stored: this.#stored(found, (column) => joins.column(way, keyColumn(column))),
      };
    };
    return build.allOf(
      this.#rows.map(({ filter, path }) => filterExpression(filter, path, this.#clock, subject)),
    );
  }

  /** The column of a Date on MySQL, which casts it; PostgreSQL sees that a cast changes nothing. */
  #stored(found: FoundField, column: (name: string) => Expression): Expression | undefined {
    const name = this.#model.storedDate(found);
    if (name === null) return undefined;
    this.storedDates.push(found);
    return column(name);
  }

  /** An aggregate over the rows of its base, with columns in place of fields. */
  #aggregate({ node }: MetricAggregate, joins: Joins, metric: string | null): Expression {
    const replace = (each: Expression): Expression => {
      if (each.kind !== 'column') return mapChildren(each, replace);
      const [found] = fieldsOf(each, this.#model, 'query.metrics');
      const { dataset, field } = found!;
      const at = { path: 'query.metrics', field: `${dataset.name}.${field.name}`, metric };
      return joins.column(this.#model.graph.path(joins.base, dataset.name, [], at), field.name);
    };
    return mapChildren(node, replace);
  }

  /** A metric with `value` in place of each aggregate. */
  #metricValue({ expression }: ReadMetric, value: (node: Expression) => Expression): Expression {
    const replace = (each: Expression): Expression =>
      each.kind === 'aggregate' ? value(each) : mapChildren(each, replace);
    return replace(expression);
  }

  #having(value: (node: Expression) => Expression): Expression | null {
    const subject = ({ metric }: Condition): Subject => {
      const read = this.#computed.get(this.#model.requireMetric(metric!, 'query').name.toLowerCase())!;
      return { expression: this.#metricValue(read, value), datatype: read.metric.datatype ?? null };
    };
    return build.allOf(
      this.#groups.map(({ filter, path }) => filterExpression(filter, path, this.#clock, subject)),
    );
  }

  /** The columns of the answer: dimensions, then metrics. */
  #outputs(dimensions: readonly Expression[], value: (node: Expression) => Expression) {
    return [
      ...dimensions.map((each, i) => build.output(each, this.#dimensions[i]!.name)),
      ...this.#metrics.map((metric) => build.output(this.#metricValue(metric, value), metric.metric.name)),
    ];
  }

  #tail() {
    const { offset, order } = this.#query;
    const names = [
      ...this.#dimensions.map(({ name }) => name),
      ...this.#metrics.map(({ metric }) => metric.name),
    ];
    const fields = this.#dimensions.map(({ fullName }) => fullName);
    const indexOf = (list: readonly string[], by: string) =>
      list.findIndex((each) => each.toLowerCase() === by.toLowerCase());
    return {
      offset: offset === 0 ? null : offset,
      order: order.map(({ by, direction }, i) => {
        const index = [indexOf(names, by), indexOf(fields, by)].find((each) => each !== -1);
        if (index === undefined) {
          const suggestions = nearest(by, names);
          const message = `there is no column \`${by}\` in the answer${didYouMean(suggestions)}`;
          throw refused(`query.order[${i}].by`, message, { reason: 'unknown_column', name: by, suggestions });
        }
        return build.orderBy(build.place(index), direction === 'desc');
      }),
    };
  }

  /** One base: its rows, grouped. */
  #grouped(base: Base): Query {
    const joins = new Joins(this.#model, base.name);
    const dimensions = this.#dimensionValues(joins, base.metric);
    const value = (node: Expression): Expression => {
      const found = base.aggregates.find((each) => keyOf(each.node) === keyOf(node))!;
      return this.#aggregate(found, joins, base.metric);
    };
    const parts = {
      outputs: this.#outputs(dimensions, value),
      where: this.#where(joins, base.metric),
      group: dimensions,
      having: this.#having(value),
    };
    return build.select({ ...parts, from: [joins.from], ...this.#tail() });
  }

  /**
   * Several bases: the groups of each, one below the other, and then grouped again. MAX takes the one value that is not
   * NULL, on every engine; a join of the groups would lose those that one base does not have.
   */
  #merged(bases: readonly Base[]): Query {
    const alias = 'parts';
    const aggregates = bases.flatMap((base) => base.aggregates.map((aggregate) => ({ base, aggregate })));
    const part = (base: Base): Query => {
      const joins = new Joins(this.#model, base.name);
      const dimensions = this.#dimensionValues(joins, base.metric);
      const values = aggregates.map((each) =>
        each.base === base ? this.#aggregate(each.aggregate, joins, base.metric) : build.nothing,
      );
      const outputs = [
        ...dimensions.map((each, i) => build.output(each, `d${i}`)),
        ...values.map((each, i) => build.output(each, `a${i}`)),
      ];
      const where = this.#where(joins, base.metric);
      return build.select({ outputs, where, group: dimensions, from: [joins.from] });
    };
    const query = bases.map(part).reduce((before, each) => build.unionAll(before, each));
    const dimensions = this.#dimensions.map((_, i) => build.column(alias, `d${i}`));
    const value = (node: Expression): Expression => {
      const i = aggregates.findIndex(({ aggregate }) => keyOf(aggregate.node) === keyOf(node));
      return build.aggregate('max', build.column(alias, `a${i}`));
    };
    return build.select({
      outputs: this.#outputs(dimensions, value),
      from: [{ kind: 'subquery', query, alias }],
      group: dimensions,
      having: this.#having(value),
      ...this.#tail(),
    });
  }

  /** Without metrics: the rows of the dataset that reaches all that is named. */
  #plain(): Query {
    const filtered = this.#rows
      .flatMap(({ filter, path }) => conditionsIn(filter, path))
      .map(({ condition, path }) => this.#model.requireField(condition.field!, `${path}.field`).dataset.name);
    const named = [...this.#dimensions.map(({ found }) => found.dataset.name), ...filtered];
    const base = this.#model.graph.base(named);
    if (base === null)
      throw ambiguous('query.dimensions', `no one dataset reaches ${[...new Set(named)].join(', ')}`, []);
    const joins = new Joins(this.#model, base);
    const dimensions = this.#dimensionValues(joins, null);
    const outputs = this.#outputs(dimensions, (node) => node);
    const where = this.#where(joins, null);
    const { distinct } = this.#query;
    return build.select({ outputs, where, distinct, from: [joins.from], ...this.#tail() });
  }

  columns(types: readonly Compiled['columns'][number]['datatype'][]): Compiled['columns'] {
    return [
      ...this.#dimensions.map(({ name, found: { field }, datatype }, i) => ({
        name,
        label: field.label ?? null,
        description: field.description ?? null,
        datatype: datatype ?? types[i] ?? null,
        role: 'dimension' as const,
      })),
      ...this.#metrics.map(({ metric }, i) => ({
        name: metric.name,
        label: null,
        description: metric.description ?? null,
        datatype: metric.datatype ?? types[this.#dimensions.length + i] ?? null,
        role: 'metric' as const,
      })),
    ];
  }
}

const utc = new Set(['UTC', 'Etc/UTC']);

/** A structured query, resolved. Throws 422 with the path of what is wrong. */
export const resolveStructured = (model: Model, given: unknown, now: Temporal.Instant) => {
  const request = readRequest(given);
  const { engine } = model.dialect;
  const query = { ...request, timezone: utc.has(request.timezone) ? 'UTC' : request.timezone };
  if (query.timezone !== 'UTC' && engine !== 'postgres')
    throw refused('query.timezone', `must be UTC on ${engineNames[engine]}`, {
      reason: 'not_supported',
      name: query.timezone,
    });
  requireNames(query, model);
  return refusedAt('query', () => {
    const compilation = new Compilation(model, query, now);
    const statement = compilation.build();
    const resolved = resolve(statement, model.joinedTables(compilation.storedDates), { inline: true });
    return { resolved, columns: compilation.columns(resolved.columns.map(({ datatype }) => datatype)) };
  });
};
