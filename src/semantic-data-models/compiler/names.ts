import { ApiError, type Fault } from '../../lib/errors.ts';
import { checkVia } from './dimensions.ts';
import { conditionsIn } from './filters.ts';
import type { Model } from './model.ts';
import type { StructuredQuery } from './request.ts';

/** A name that the model does not have: where it stands, what it should name, and what was probably meant. */
export interface UnknownName extends Fault {
  reason: string;
  suggestions: readonly string[];
}

/** 422 for all unknown names of a query. The response has `reason`, `name` and `suggestions` of the first. */
export class UnknownNames extends ApiError {
  readonly names: readonly UnknownName[];

  constructor(names: readonly UnknownName[], context: Record<string, unknown>) {
    const details = names.map(({ path, message }): Fault => ({ path, message }));
    const message = details.map((each) => `${each.path}: ${each.message}`).join('; ');
    super('unprocessable_entity', message, { ...context, details });
    this.names = names;
  }
}

/** Throws UnknownNames if a query names what the model does not have. */
export const requireNames = ({ metrics, dimensions, filters }: StructuredQuery, model: Model): void => {
  const names: UnknownName[] = [];
  let context: Record<string, unknown> | undefined;
  const look = (check: () => unknown): void => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      context ??= error.context;
      const { details, reason, suggestions } = error.context as unknown as UnknownName & { details: Fault[] };
      names.push(...details.map((each) => ({ ...each, reason, suggestions })));
    }
  };
  for (const [i, name] of metrics.entries()) look(() => model.requireMetric(name, `query.metrics[${i}]`));
  for (const [i, dimension] of dimensions.entries()) {
    const path = `query.dimensions[${i}]`;
    look(() => model.requireField(dimension.field, path));
    look(() => checkVia(('via' in dimension && dimension.via) || [], model, path));
  }
  for (const [i, filter] of filters.entries())
    for (const { condition, path } of conditionsIn(filter, `query.filters[${i}]`)) {
      const { field, metric, via = [] } = condition;
      if (metric !== undefined) look(() => model.requireMetric(metric, `${path}.metric`));
      if (field !== undefined) look(() => model.requireField(field, `${path}.field`));
      look(() => checkVia(via, model, path));
    }
  if (context) throw new UnknownNames(names, context);
};
