import type { Executor, Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Actor } from '../lib/principal.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import { PriceBook } from './price-book.ts';
import { createPriceFor, type PriceFor } from './price-for.ts';
import { createPrice, endPrice, type IsPriceUsed, type NewPrice, removePrice } from './prices.ts';
import { priceRoutes } from './routes.ts';
import { listOwnPrices, type Price } from './store.ts';

export { amountOf, dearestAmount, mostNanoUsd } from './amount.ts';
export type { PricedLlm } from './price-for.ts';
export { form as priceForm } from './schemas.ts';
export type { Price } from './store.ts';

export interface Prices extends Feature {
  /**
   * Resolves to the price of a call. It takes microseconds and no statement, unless the copy of the prices is older than 2 s
   * or a price of the catalogue is used for the first time. While the database does not respond the copy may be older; a
   * price of the catalogue that was never used is then a 503. Not inside a transaction.
   */
  priceFor: PriceFor;
  /** Own prices, oldest first. */
  list(executor: Executor): Promise<Price[]>;
  create(tx: Tx, actor: Actor, values: NewPrice): Promise<Price>;
  /** Deletes an own price, or ends it now if charges name it. */
  remove(tx: Tx, actor: Actor, id: string): Promise<void>;
  end(tx: Tx, actor: Actor, id: string, validTo: string | null): Promise<Price>;
  /** Resolves when this replica uses what was written. */
  changed(): Promise<void>;
}

interface Needs {
  resolveLlm: LlmConfigurations['resolve'];
  isUsed: IsPriceUsed;
}

/** Prices of models: the company's own, and those of the catalogue that is bundled. */
export const createPrices = ({ db, log }: Services, { resolveLlm, isUsed }: Needs): Prices => {
  const book = new PriceBook(db, log);
  const priceFor = createPriceFor(book);
  const changed = () => book.refresh();
  return {
    tag: { name: 'Prices', description: 'What calls of models cost.' },
    routes: priceRoutes({ db, resolveLlm, isUsed, priceFor, refresh: changed }),
    start: () => book.start(),
    priceFor,
    list: listOwnPrices,
    create: createPrice,
    remove: (tx, actor, id) => removePrice(tx, actor, isUsed, id),
    end: endPrice,
    changed,
  };
};
