import { buckets, inputTokens, type Tokens } from '../lib/tokens.ts';
import { dearestRates, type PicoRates, type Priced, picoPrice } from './rates.ts';

/** The most that one amount can be, in nano-USD: a larger one counts as this. Sums of a few stay exact as numbers. */
export const mostNanoUsd = 9e15;

/** Rounds once, half up, and caps. */
const toNanoUsd = (pico: bigint): number => {
  const nano = (pico + 500n) / 1_000n;
  return nano >= BigInt(mostNanoUsd) ? mostNanoUsd : Number(nano);
};

/**
 * Returns what a call costs, in nano-USD: `floor((sum of tokens * rate + request + 500) / 1000)` with rates in pico-USD, at
 * most 9e15. Tokens are whole numbers from 0 on. If the prompt (all five buckets) has more tokens than `above` says, all
 * tokens have the rates of `above`.
 *
 * A bucket without a rate has that of another one: cache_write_1h of cache_write, that of input; cache_read and input_audio
 * of input; reasoning and output_audio of output. Inside `above` those of `above`. Only `request`, which is no rate of
 * tokens, is that of the price if `above` has none.
 */
export const amountOf = (tokens: Tokens, price: Priced): number => {
  const { base, above } = picoPrice(price);
  const rates = above !== null && inputTokens(tokens) > above.inputTokens ? above.rates : base;
  let pico = rates.request;
  for (const bucket of buckets) {
    if (tokens[bucket] > 0) pico += BigInt(tokens[bucket]) * rates.tokens[bucket];
  }
  return toNanoUsd(pico);
};

/**
 * Returns the most that a call with at most so many tokens in its prompt and in its reply can cost, in nano-USD: at the
 * dearest rates that its tokens can have, whatever their buckets are.
 */
export const dearestAmount = (inputTokens: number, outputTokens: number, price: Priced): number => {
  const { base, above } = picoPrice(price);
  const most = (input: number, rates: PicoRates) => {
    const dearest = dearestRates(rates);
    return toNanoUsd(BigInt(input) * dearest.input + BigInt(outputTokens) * dearest.output + rates.request);
  };
  if (above === null || inputTokens <= above.inputTokens) return most(inputTokens, base);
  // A shorter prompt has the other rates, which may be dearer.
  return Math.max(most(above.inputTokens, base), most(inputTokens, above.rates));
};
