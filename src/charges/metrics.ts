import { counter, type Metric } from '../lib/metrics.ts';
import type { Charge } from './charge.ts';

/** Models with a series of their own: workers and endpoints may report any name, and a series is never forgotten. */
const mostModels = 200;

/** Counts of the charges that this replica makes. */
export const chargeMetrics = (): { metrics: Metric[]; onCharge(charge: Charge): void } => {
  const models = new Set<string>();
  const labelOf = (model: string): string => {
    if (models.size < mostModels) models.add(model);
    return models.has(model) ? model : 'other';
  };
  const cost = counter(
    'agent_platform_cost_nano_usd_total',
    'Cost of calls of models in nano-USD, without those whose amount is unknown',
    ['purpose', 'model'],
  );
  const calls = counter('agent_platform_model_calls_total', 'Calls of models that were charged', [
    'purpose',
    'status',
  ]);
  return {
    metrics: [cost, calls],
    onCharge: ({ purpose, status, model, requested_model, amount_nano_usd }) => {
      calls.inc({ purpose, status });
      if (amount_nano_usd !== null)
        cost.inc({ purpose, model: labelOf(model ?? requested_model) }, amount_nano_usd);
    },
  };
};
