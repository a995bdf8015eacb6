import type { Budgets } from '../budgets/index.ts';
import type { Feature, Services } from '../feature.ts';
import { SparedRead } from '../lib/spared-read.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Prices } from '../prices/index.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { priceAttention } from './attention.ts';
import { createExternalCharges } from './external.ts';
import { chargeMetrics } from './metrics.ts';
import { findSpent, type Spent } from './recent.ts';
import { chargeRoutes } from './routes.ts';
import { deleteOldCharges } from './store.ts';
import { costRoutes } from './sums-routes.ts';
import { unpricedRoute } from './unpriced-route.ts';

export type { Accounts, CallAccount } from './accounts.ts';
export { cappedSum, costFields, costOf, type NewCharge } from './charge.ts';
export { externalCharge } from './external.ts';
export { type RecentCost, recentCost, recentCostField } from './recent.ts';
export { chargeInsertion, insertCharges, isPriceUsed } from './store.ts';

export interface Charges extends Feature {
  accounts: Accounts;
  /** What the Overview shows. */
  overview: { spent: typeof findSpent; attention: typeof priceAttention };
  /** Makes the charges that an external worker reports, to be written with its report. Throws 422. */
  ofExternalWorker: ReturnType<typeof createExternalCharges>;
}

interface Needs {
  prices: Pick<Prices, 'priceFor'>;
  budgets: Budgets;
  resolveLlm: LlmConfigurations['resolve'];
}

/** What calls of models cost. */
export const createCharges = (
  { db, clock, log, settings }: Services,
  { prices, budgets, resolveLlm }: Needs,
): Charges => {
  const { metrics, onCharge } = chargeMetrics();
  // A month of 100 calls a second is 260 million rows.
  const spent = new SparedRead<Spent>();
  const { accounts, loop, flush } = createAccounts({ db, log, settings, onCharge, prices, budgets });
  return {
    accounts,
    overview: { spent: (executor) => spent.value(() => findSpent(executor)), attention: priceAttention },
    ofExternalWorker: createExternalCharges({ db, onCharge, prices, budgets, resolveLlm }),
    tag: { name: 'Costs', description: 'What calls of models cost: charges, and sums of them.' },
    routes: [
      ...chargeRoutes(db),
      ...costRoutes({ db, clock }),
      unpricedRoute({ db, clock, prices, resolveLlm }),
    ],
    metrics,
    loops: [{ start: () => void loop.start(), stop: () => loop.stop(), pass: () => loop.pass() }],
    // The runs that the loops of others were in the middle of have ended by now.
    stop: flush,
    retention: [
      async (tx, { CHARGE_RETENTION_DAYS: days }, limit) =>
        days === 0 ? 0 : deleteOldCharges(tx, days, limit),
    ],
  };
};
