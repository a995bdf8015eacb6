import { LRUCache } from 'lru-cache';
import type { Price } from './store.ts';

/** The company's own prices as an index: which of them matches a model. */

/** Returns whether `text` matches the parts of a pattern between its `*`. Takes time in proportion to both. */
const matches = (parts: readonly string[], text: string): boolean => {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (parts.length === 1) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) {
    return false;
  }
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};

const isExact = ({ model }: Price): boolean => !model.includes('*');

/** The first of several that match wins: of one configuration, exact, longest, latest `valid_from`, latest id. */
const byRank = (a: Price, b: Price): number =>
  Number(b.llm_id !== null) - Number(a.llm_id !== null) ||
  Number(isExact(b)) - Number(isExact(a)) ||
  b.model.length - a.model.length ||
  b.valid_from.getTime() - a.valid_from.getTime() ||
  (a.id < b.id ? 1 : -1);

export class OwnPrices {
  readonly #ranked: readonly { price: Price; parts: string[] }[];
  /** What matches a name, in the order in which it wins. */
  readonly #matching = new LRUCache<string, readonly Price[]>({ max: 2_000 });

  constructor(prices: readonly Price[]) {
    this.#ranked = prices
      .toSorted(byRank)
      .map((price) => ({ price, parts: price.model.toLowerCase().split('*') }));
  }

  /** Returns the price of a model at a time. `llmId` null: those of one configuration do not count. */
  find(llmId: string | null, name: string, at: Date): Price | undefined {
    if (this.#ranked.length === 0) return undefined;
    const time = at.getTime();
    return this.#matchingOf(llmId, name.toLowerCase()).find(
      ({ valid_from, valid_to }) =>
        valid_from.getTime() <= time && (valid_to === null || time < valid_to.getTime()),
    );
  }

  #matchingOf(llmId: string | null, name: string): readonly Price[] {
    const key = `${llmId} ${name}`;
    let found = this.#matching.get(key);
    if (found === undefined) {
      found = this.#ranked
        .filter(
          ({ price, parts }) => (price.llm_id === null || price.llm_id === llmId) && matches(parts, name),
        )
        .map(({ price }) => price);
      this.#matching.set(key, found);
    }
    return found;
  }
}
