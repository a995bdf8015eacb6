import { calcPrice, type ModelPrice, type PriceOptions, type TieredPrices } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { canonicalRate, type Priced, type RateName, type Rates } from './rates.ts';

/** Look-up in the catalogue of public prices, which is bundled: nothing is sent. */

/** The catalogue in responses. The date is that of its release. */
export const catalogue = { name: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' } as const;

/** A price of the catalogue. */
export interface CataloguePrice extends Priced {
  /** The name that the catalogue has for the model. */
  model: string;
}

/** The endpoint whose provider decides which prices there are. */
export interface PricedEndpoint {
  kind: 'openai_compatible' | 'openai' | 'anthropic' | 'azure' | 'google' | 'bedrock' | 'mock';
  /** Only that of `openai_compatible` counts. */
  base_url?: string | null;
}

/** The catalogue's names of the rates. What it has per thousand calls is per call here. */
const rateKeys: Record<RateName, string> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  reasoning: 'output_reasoning_mtok',
  input_audio: 'input_audio_mtok',
  output_audio: 'output_audio_mtok',
  request: 'requests_kcount',
};

const isTiered = (price: number | TieredPrices | undefined): price is TieredPrices =>
  typeof price === 'object';

/** The rates of one tier; null if it has not both of input and output. */
const ratesOf = (prices: ModelPrice, isAbove: boolean): Rates | null => {
  const rates: Partial<Record<RateName, string>> = {};
  for (const [name, key] of Object.entries(rateKeys) as [RateName, string][]) {
    const price = prices[key];
    if (price === undefined) continue;
    const usd = isTiered(price) ? (isAbove ? (price.tiers[0]?.price ?? price.base) : price.base) : price;
    rates[name] = canonicalRate((name === 'request' ? usd / 1_000 : usd).toFixed(6));
  }
  return rates.input === undefined || rates.output === undefined ? null : (rates as Rates);
};

/** Returns the price as ours; null for one that cannot be: without a rate of input or output, or with several steps. */
export const toPriced = (prices: ModelPrice): Priced | null => {
  const rates = ratesOf(prices, false);
  if (rates === null) return null;
  const tiers = Object.values(prices).flatMap((price) => (isTiered(price) ? price.tiers : []));
  if (tiers.length === 0) return { rates, above: null };
  const starts = new Set(tiers.map(({ start }) => start));
  const hasSeveral = Object.values(prices).some((price) => isTiered(price) && price.tiers.length > 1);
  if (starts.size > 1 || hasSeveral) return null;
  return { rates, above: { input_tokens: tiers[0]!.start, rates: ratesOf(prices, true)! } };
};

const providers: Partial<Record<PricedEndpoint['kind'], string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure',
  google: 'google',
  bedrock: 'aws',
};

const free: CataloguePrice = { model: 'mock', rates: { input: '0', output: '0' }, above: null };

/** The prices by the catalogue's own objects, which stay the same. */
const converted = new WeakMap<ModelPrice, CataloguePrice | null>();

const convertedOf = (model: string, prices: ModelPrice): CataloguePrice | null => {
  let price = converted.get(prices);
  if (price === undefined) {
    const priced = toPriced(prices);
    price = priced && { model, ...priced };
    converted.set(prices, price);
  }
  return price;
};

/** The price at any time. Most never change; a few depend on the date or on the time of day. */
type PriceAt = (at: Date) => CataloguePrice | null;

const minuteOf = (time: Date): number => Math.floor(time.getTime() / 60_000);

const never: PriceAt = () => null;

/** A look-up among some providers; null also for a price that the library refuses, because it misses a rate that others build on. */
const ask = (name: string, options: PriceOptions) => {
  try {
    return calcPrice({ input_tokens: 1 }, name, options);
  } catch {
    return null;
  }
};

const look = ({ kind, base_url }: PricedEndpoint, given: string, at: Date): PriceAt => {
  const providerId = providers[kind];
  const providerApiUrl = base_url ?? undefined;
  if (providerId === undefined && providerApiUrl === undefined) return never;
  const name = given.replace(/^models\//i, '');
  const where = providerId === undefined ? { providerApiUrl } : { providerId };
  const found = ask(name, { ...where, timestamp: at });
  if (found === null) return never;
  const { model } = found;
  const price = convertedOf(model.id, found.model_price);
  if (!Array.isArray(model.prices)) return () => price;
  // Prices change at whole minutes, and a look-up takes 30 µs.
  let last = { minute: minuteOf(at), price };
  return (time) => {
    const minute = minuteOf(time);
    if (minute !== last.minute) {
      const then = ask(name, { ...where, timestamp: time });
      last = { minute, price: then && convertedOf(model.id, then.model_price) };
    }
    return last.price;
  };
};

/** Names come from endpoints, so there is no end of them. */
const looked = new LRUCache<string, PriceAt>({ max: 2_000 });

/** Returns the catalogue's price of the model `name` at a time; null if it has none. */
export const findCataloguePrice = (
  endpoint: PricedEndpoint,
  name: string,
  at: Date,
): CataloguePrice | null => {
  if (endpoint.kind === 'mock') return free;
  const key = JSON.stringify([endpoint.kind, providers[endpoint.kind] ? null : endpoint.base_url, name]);
  let price = looked.get(key);
  if (price === undefined) {
    price = look(endpoint, name, at);
    looked.set(key, price);
  }
  return price(at);
};
