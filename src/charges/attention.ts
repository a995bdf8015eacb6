import type { Executor } from '../database/index.ts';
import { type Attention, linesOf } from '../lib/attention.ts';
import { isolate } from '../lib/prose.ts';
import { listUnpriced } from './recent.ts';

/** Returns the lines of the Overview on models whose calls since `from` had no price. */
export const priceAttention = async (executor: Executor, from: Date): Promise<Attention[]> => {
  const models = await listUnpriced(executor, from);
  const calls = models.reduce((sum, one) => sum + one.calls, 0);
  return linesOf(
    models,
    (one): Attention => ({
      kind: 'price_missing',
      severity: 'info',
      count: one.calls,
      since: one.since,
      subject: null,
      title: `The model ${isolate(one.model)} has no price`,
      detail: `What ${one.calls === 1 ? 'a call' : `${one.calls} calls`} cost is not known, and budgets of money refuse more of them. Set a price.`,
      filter: { model: one.model },
    }),
    () => ({
      count: calls,
      title: `${models.length} models have no price`,
      detail: `What ${calls} calls cost is not known, and budgets of money refuse more of them. Set prices.`,
      filter: {},
    }),
  );
};
