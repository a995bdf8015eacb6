import { expect, test } from 'vitest';
import { compareArms, isInconclusive, isWorse, normalQuantile, type PairedScores } from './statistics.ts';

const published = [1, 0.8, 1, 0.6, 1, 0.8, 1, 1];
const candidate = [0.6, 0.8, 0.8, 0.6, 0.4, 1, 0.6, 0.8];
const paired = (before: readonly number[], after: readonly number[]): PairedScores[] =>
  before.map((score, i) => ({ before: score, after: after[i]! }));
const options = { confidence: 0.95, seed: ['a', 'b'] };
const rule = { maxDrop: 0.03, confidence: 0.95 };

test('counts every sign pattern of few differences, equal sums included', async () => {
  const comparison = await compareArms(paired(published, candidate), options);
  expect(comparison).toMatchObject({ cases: 8, pValue: 4 / 64 });
  expect(comparison.before).toBeCloseTo(0.9, 12);
  expect(comparison.after).toBeCloseTo(0.7, 12);
  expect(comparison.drop).toBeCloseTo(0.2, 12);
  expect(isWorse(comparison, rule)).toBe(false);
  const changed = await compareArms(paired(published, candidate.with(5, 0.8)), options);
  expect(changed.pValue).toBe(1 / 32);
  expect(isWorse(changed, rule)).toBe(true);
  expect(isWorse(changed, { ...rule, maxDrop: changed.drop! })).toBe(false);
});

test('a drop of exactly the largest one, and a p of exactly the limit, are what they are in decimals', async () => {
  const cases = Array.from({ length: 10 }, () => ({ before: 0.1 + 0.2, after: 0.27 }));
  expect(isWorse(await compareArms(cases, options), { maxDrop: 0.03, confidence: 0.9 })).toBe(false);
  const five = await compareArms(paired([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]), options);
  expect(isWorse(five, { maxDrop: 0.03, confidence: 1 - 1 / 32 })).toBe(true);
});

test('16 differences are counted, 17 drawn, and both have the p of a large experiment', async () => {
  // All lose: only the pattern itself reaches the sum.
  const losing = (n: number) => paired(Array(n).fill(1), Array(n).fill(0.5));
  expect((await compareArms(losing(16), options)).pValue).toBe(1 / 65_536);
  expect((await compareArms(losing(17), options)).pValue).toBe(1 / 20_001);
  // The p of k losses and n - k wins of the same size is the binomial P(X ≥ k).
  const mixed = paired(
    Array.from({ length: 100 }, (_, i) => (i < 58 ? 1 : 0)),
    Array.from({ length: 100 }, (_, i) => (i < 58 ? 0 : 1)),
  );
  const { pValue } = await compareArms(mixed, options);
  expect(pValue).toBeGreaterThan(0.066 - 0.006);
  expect(pValue).toBeLessThan(0.067 + 0.006);
  expect((await compareArms(mixed, options)).pValue).toBe(pValue);
  expect((await compareArms(mixed, { ...options, seed: ['a', 'c'] })).pValue).not.toBe(pValue);
});

test('two equal arms have p 1, and no cases no figures', async () => {
  const equal = await compareArms(paired([1, 0.5], [1, 0.5]), options);
  expect(equal).toMatchObject({ drop: 0, pValue: 1, detectableDrop: 0 });
  expect(await compareArms([], options)).toMatchObject({ cases: 0, drop: null, pValue: null });
  expect(await compareArms(paired([1], [0]), options)).toMatchObject({
    drop: 1,
    pValue: 0.5,
    detectableDrop: null,
  });
});

test('the detectable drop has quantiles of the normal distribution, and the deviation with n − 1', async () => {
  expect(normalQuantile(0.5)).toBe(0);
  expect(normalQuantile(0.9)).toBeCloseTo(1.2815515655446, 12);
  expect(normalQuantile(0.95)).toBeCloseTo(1.6448536269515, 12);
  expect(normalQuantile(0.999)).toBeCloseTo(3.0902323061678, 11);
  // d = 1, 0, 0, 0: mean 1/4, variance (9/16 + 3/16) / 3 = 1/4.
  const { detectableDrop } = await compareArms(paired([1, 1, 1, 1], [0, 1, 1, 1]), options);
  expect(detectableDrop).toBeCloseTo(((1.6448536 + 1.2816) * 0.5) / 2, 6);
});

test('a verdict needs 20 cases and 95 % of the trials of each arm', async () => {
  const arm = { trials: 60, unscored: 3 };
  expect(isInconclusive({ cases: 20 }, [arm, arm])).toBe(false);
  expect(isInconclusive({ cases: 19 }, [arm, arm])).toBe(true);
  expect(isInconclusive({ cases: 20 }, [arm, { trials: 60, unscored: 4 }])).toBe(true);
});
