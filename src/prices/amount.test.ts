import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noTokens, type Tokens } from '../lib/tokens.ts';
import { amountOf, dearestAmount, mostNanoUsd } from './amount.ts';
import { canonicalRate, type Priced, type RateName, rateNames } from './rates.ts';

const tokens = (some: Partial<Tokens>): Tokens => ({ ...noTokens, ...some });
const price = (rates: Priced['rates'], above: Priced['above'] = null): Priced => ({ rates, above });

/** A fraction of two whole numbers, as a second way to compute amounts: nothing is scaled or rounded in between. */
interface Fraction {
  over: bigint;
  under: bigint;
}
const fraction = (decimal: string): Fraction => {
  const [whole, digits = ''] = decimal.split('.') as [string, string?];
  return { over: BigInt(whole + digits), under: 10n ** BigInt(digits.length) };
};
const plus = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under,
});
const times = (a: Fraction, n: bigint): Fraction => ({ over: a.over * n, under: a.under });

const others: Partial<Record<RateName, RateName>> = {
  cache_write_1h: 'cache_write',
  cache_write: 'input',
  cache_read: 'input',
  input_audio: 'input',
  reasoning: 'output',
  output_audio: 'output',
};
const rateOf = (rates: Priced['rates'], name: RateName): string =>
  rates[name] ?? rateOf(rates, others[name]!);

const amountByFractions = (used: Tokens, { rates, above }: Priced): number => {
  const input = used.input + used.input_audio + used.cache_read + used.cache_write + used.cache_write_1h;
  const these = above && input > above.input_tokens ? above.rates : rates;
  let usd = fraction(these.request ?? rates.request ?? '0');
  for (const name of rateNames.filter((one) => one !== 'request')) {
    const perMillion = fraction(rateOf(these, name));
    usd = plus(usd, { ...times(perMillion, BigInt(used[name])), under: perMillion.under * 1_000_000n });
  }
  // Half up, in nano-USD.
  const nano = (2n * usd.over * 1_000_000_000n + usd.under) / (2n * usd.under);
  return Math.min(Number(nano), mostNanoUsd);
};

const decimal = fc
  .tuple(fc.nat(1_000_000), fc.nat(999_999), fc.nat(6))
  .map(([whole, digits, places]) =>
    canonicalRate(
      whole === 1_000_000 ? '1000000' : `${whole}.${String(digits).padStart(6, '0').slice(0, places)}`,
    ),
  );
const someRates = fc
  .record(Object.fromEntries(rateNames.map((name) => [name, decimal])) as Record<RateName, typeof decimal>, {
    requiredKeys: ['input', 'output'],
  })
  .map((rates) => rates as Priced['rates']);
const somePrice = fc.record({
  rates: someRates,
  above: fc.option(fc.record({ input_tokens: fc.nat(2_000), rates: someRates })),
});
const someTokens = (most: number) =>
  fc.record(
    Object.fromEntries(Object.keys(noTokens).map((name) => [name, fc.nat(most)])),
  ) as fc.Arbitrary<Tokens>;

describe('an amount', () => {
  it('is the sum of all buckets at their rates', () => {
    const rates = { input: '3', cache_read: '0.3', cache_write: '3.75', output: '15' };
    const used = tokens({ input: 500, cache_read: 400, cache_write: 100, output: 100 });
    expect(amountOf(used, price(rates))).toBe(3_495_000);
  });

  it('is rounded once, half up', () => {
    // 0.0001 USD a million are 100 pico-USD a token.
    const rates = { input: '0.0001', output: '0.0001' };
    expect(amountOf(tokens({ input: 4 }), price(rates))).toBe(0);
    expect(amountOf(tokens({ input: 5 }), price(rates))).toBe(1);
    expect(amountOf(tokens({ input: 3, output: 2 }), price(rates))).toBe(1);
    expect(amountOf(tokens({}), price({ ...rates, request: '0.000001' }))).toBe(1_000);
  });

  it('has the rates of `above` for all tokens of a longer prompt, and its fall-backs', () => {
    const long = { input_tokens: 1_000, rates: { input: '2', output: '4' } };
    const short = { input: '1', cache_read: '0.1', output: '3', reasoning: '5', request: '0.001' };
    const both = price(short, long);
    const used = tokens({
      input: 600,
      input_audio: 100,
      cache_read: 100,
      cache_write: 100,
      cache_write_1h: 100,
    });
    // 900 at 1, 100 at 0.1, and the call.
    expect(amountOf(used, both)).toBe(900_000 + 10_000 + 1_000_000);
    const longer = { ...used, input: 601, output: 10, reasoning: 10 };
    expect(amountOf(longer, both)).toBe(1_001 * 2_000 + 20 * 4_000 + 1_000_000);
    const own = price(short, { ...long, rates: { ...long.rates, request: '0' } });
    expect(amountOf(longer, own)).toBe(1_001 * 2_000 + 20 * 4_000);
  });

  it('is at most 9e15', () => {
    const rates = { input: '1000000', output: '0' };
    expect(amountOf(tokens({ input: 8_999_999 }), price(rates))).toBe(8_999_999_000_000_000);
    expect(amountOf(tokens({ input: 1e12 }), price(rates))).toBe(mostNanoUsd);
  });

  it('is what fractions give', () => {
    fc.assert(
      fc.property(someTokens(3_000), somePrice, (used, one) => {
        expect(amountOf(used, one)).toBe(amountByFractions(used, one));
      }),
    );
    fc.assert(
      fc.property(someTokens(1e12), somePrice, (used, one) => {
        expect(amountOf(used, one)).toBe(amountByFractions(used, one));
      }),
    );
  });

  it('is never above the dearest amount of its tokens', () => {
    fc.assert(
      fc.property(someTokens(1_000), fc.nat(500), fc.nat(500), somePrice, (used, more, also, one) => {
        const input =
          used.input + used.input_audio + used.cache_read + used.cache_write + used.cache_write_1h;
        const output = used.output + used.output_audio + used.reasoning;
        expect(amountOf(used, one)).toBeLessThanOrEqual(dearestAmount(input + more, output + also, one));
      }),
    );
  });

  it('of a bound is no more than a call can cost', () => {
    const rates = { input: '5', cache_write: '6', output: '7', reasoning: '8' };
    const above = { input_tokens: 100, rates: { input: '1', output: '2' } };
    expect(dearestAmount(100, 10, price(rates, above))).toBe(600_000 + 80_000);
    // At 100 tokens of prompt it is dearer than at 101.
    expect(dearestAmount(101, 10, price(rates, above))).toBe(600_000 + 80_000);
    expect(dearestAmount(1_000, 10, price(rates, above))).toBe(1_000_000 + 20_000);
  });
});
