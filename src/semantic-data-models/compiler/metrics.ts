import { type Expression, expressionsIn, notSupported } from '@agent-platform/sql';
import type { Metric } from '../ossie.ts';
import { expressionFor } from './dialects.ts';
import { refused, refusedAt } from './faults.ts';
import { ambiguous } from './graph.ts';
import type { FoundField, Model } from './model.ts';

type AggregateNode = Extract<Expression, { kind: 'aggregate' }>;

/** One aggregate of a metric, with the dataset whose rows it counts. */
export interface MetricAggregate {
  node: AggregateNode;
  /** In small letters. */
  base: string;
}

/** A metric, taken apart: what is computed for each base, and what is made of it. */
export interface ReadMetric {
  metric: Metric;
  expression: Expression;
  aggregates: MetricAggregate[];
}

/** The columns that an expression names, those inside of its parts too. */
const columnsIn = (node: Expression): Extract<Expression, { kind: 'column' }>[] =>
  node.kind === 'column' ? [node] : expressionsIn(node).flatMap(columnsIn);

const refuseQueries = (node: Expression): void => {
  if (node.kind === 'query' || node.kind === 'exists' || node.kind === 'in_query')
    throw notSupported('A metric cannot have a subquery.', 'SELECT', node.at);
  expressionsIn(node).forEach(refuseQueries);
};

/** The fields that an aggregate names. */
export const fieldsOf = (node: Expression, model: Model, path: string): FoundField[] =>
  columnsIn(node).map((column) =>
    model.requireField(column.table === null ? column.name : `${column.table}.${column.name}`, path),
  );

const baseOf = (node: AggregateNode, model: Model, { name }: Metric, path: string): string => {
  const fields = fieldsOf(node, model, path);
  if (fields.length === 0)
    throw notSupported(
      `An aggregate of a metric needs a \`dataset.field\`: write \`count(dataset.field)\`.`,
      node.name,
      node.at,
    );
  const datasets = fields.map(({ dataset }) => dataset.name);
  const base = model.graph.base(datasets);
  if (base === null)
    throw ambiguous(
      path,
      `the metric \`${name}\` has no one dataset that reaches ${datasets.join(', ')}`,
      [],
    );
  for (const { dataset, field } of fields) {
    const at = { path, field: `${dataset.name}.${field.name}`, metric: name };
    model.graph.path(base, dataset.name, [], at);
  }
  return base;
};

/** Throws 422 at `path` for a metric that is none: it consists of aggregates over `dataset.field`. */
export const readMetric = (metric: Metric, model: Model, path: string): ReadMetric =>
  refusedAt(path, () => {
    const expression = expressionFor(metric.expression, model.dialect);
    refuseQueries(expression);
    const aggregates: MetricAggregate[] = [];
    const walk = (node: Expression): void => {
      if (node.kind === 'column')
        throw notSupported(`\`${node.name}\` must stand in an aggregate.`, node.name, node.at);
      if (node.kind === 'aggregate') {
        if (node.over) throw notSupported('A metric cannot have a window function.', node.name, node.at);
        aggregates.push({ node, base: baseOf(node, model, metric, path) });
        return;
      }
      expressionsIn(node).forEach(walk);
    };
    walk(expression);
    if (aggregates.length === 0)
      throw refused(path, `the metric \`${metric.name}\` has no aggregate`, { reason: 'not_supported' });
    return { metric, expression, aggregates };
  });
