import { buckets, type Tokens } from '../lib/tokens.ts';

/** What has a rate: each bucket of tokens, and the call itself. */
export const rateNames = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'output_audio',
  'request',
] as const;
export type RateName = (typeof rateNames)[number];

/**
 * Decimals with at most six places: USD per million tokens, and USD per call for `request`. A bucket without a rate has that
 * of another one, see `amountOf`.
 */
export type Rates = { input: string; output: string } & {
  [N in Exclude<RateName, 'input' | 'output'>]?: string;
};

/** The rates of a call whose prompt has more tokens than that, for all its tokens. */
export interface Above {
  input_tokens: number;
  rates: Rates;
}

/** The part of a price that decides amounts. */
export interface Priced {
  rates: Rates;
  above: Above | null;
}

const places = 6;

/** Returns the decimal without what says nothing: `03.50` is `3.5`. */
export const canonicalRate = (decimal: string): string => {
  const [whole, fraction = ''] = decimal.split('.') as [string, string?];
  const digits = fraction.replace(/0+$/, '');
  return (whole.replace(/^0+(?=\d)/, '') || '0') + (digits === '' ? '' : `.${digits}`);
};

const millionths = (decimal: string): bigint => {
  const [whole, fraction = ''] = decimal.split('.') as [string, string?];
  return BigInt(whole + fraction.padEnd(places, '0'));
};

/** Rates as whole numbers: pico-USD a token, and pico-USD a call. */
export interface PicoRates {
  tokens: { [B in keyof Tokens]: bigint };
  request: bigint;
}

const picoRates = (rates: Rates, inherited: string): PicoRates => {
  const input = millionths(rates.input);
  const output = millionths(rates.output);
  const or = (rate: string | undefined, other: bigint) => (rate === undefined ? other : millionths(rate));
  const cacheWrite = or(rates.cache_write, input);
  return {
    tokens: {
      input,
      input_audio: or(rates.input_audio, input),
      cache_read: or(rates.cache_read, input),
      cache_write: cacheWrite,
      cache_write_1h: or(rates.cache_write_1h, cacheWrite),
      output,
      output_audio: or(rates.output_audio, output),
      reasoning: or(rates.reasoning, output),
    },
    // A million tokens at 1 USD are 1e12 pico-USD, and so is a call at 1 USD.
    request: millionths(rates.request ?? inherited) * 1_000_000n,
  };
};

/** A price as `amountOf` uses it. */
export interface PicoPrice {
  base: PicoRates;
  above: { inputTokens: number; rates: PicoRates } | null;
}

const known = new WeakMap<Priced, PicoPrice>();

/** Returns the whole numbers of a price. It never changes, so they are computed once. */
export const picoPrice = (price: Priced): PicoPrice => {
  let pico = known.get(price);
  if (pico === undefined) {
    const { rates, above } = price;
    const request = rates.request ?? '0';
    pico = {
      base: picoRates(rates, '0'),
      above: above && { inputTokens: above.input_tokens, rates: picoRates(above.rates, request) },
    };
    known.set(price, pico);
  }
  return pico;
};

/** The dearest rates of a prompt's and of a reply's tokens. */
export const dearestRates = ({ tokens }: PicoRates): { input: bigint; output: bigint } => {
  const highest = (names: readonly (keyof Tokens)[]) =>
    names.map((name) => tokens[name]).reduce((a, b) => (a > b ? a : b));
  return { input: highest(buckets.slice(0, 5)), output: highest(buckets.slice(5)) };
};
