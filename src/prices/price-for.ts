import { findCataloguePrice, type PricedEndpoint } from './catalogue.ts';
import type { PriceBook } from './price-book.ts';
import type { Price } from './store.ts';

/** The configuration with which a model was called. A `ResolvedLlm` is one. */
export interface PricedLlm extends PricedEndpoint {
  id: string;
  /** The name to look up before all others. */
  price_as: string | null;
}

interface PriceQuery {
  /** Null: a call of a program outside, which names no configuration. It has own prices of all configurations only. */
  llm: PricedLlm | null;
  /** The name of the model in the reply; null if there is none. */
  reported: string | null;
  requested: string;
  /** The time at which the call began. */
  at: Date;
}

interface PriceMatch {
  /** Null: unknown. It is never taken for free. */
  price: Price | null;
  /** The name that has the price. */
  matched: 'price_as' | 'reported' | 'requested' | null;
}

export type PriceFor = (query: PriceQuery) => Promise<PriceMatch>;

/** All names are looked up in own prices, and then all in the catalogue. */
export const createPriceFor =
  (book: PriceBook): PriceFor =>
  async ({ llm, reported, requested, at }) => {
    const own = await book.own();
    const all = { price_as: llm?.price_as, reported, requested };
    const names = (['price_as', 'reported', 'requested'] as const).flatMap((matched) =>
      all[matched] ? [{ matched, name: all[matched] }] : [],
    );
    for (const { matched, name } of names) {
      const price = own.find(llm?.id ?? null, name, at);
      if (price !== undefined) return { price, matched };
    }
    for (const { matched, name } of llm === null ? [] : names) {
      const found = findCataloguePrice(llm!, name, at);
      if (found !== null) return { price: await book.rowOf(found), matched };
    }
    return { price: null, matched: null };
  };
