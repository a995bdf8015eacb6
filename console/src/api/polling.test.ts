import { expect, test } from 'vitest';
import { nextPoll } from './polling.ts';

test('requests repeat up to 20 % sooner than asked, and never later', () => {
  const waits = Array.from({ length: 200 }, (_, seed) => nextPoll(10_000, 0, seed));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(8_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
  expect(new Set(waits).size).toBeGreaterThan(100);
});

test('the same seed gives the same wait, so that a rendering does not start the timer again', () => {
  expect(nextPoll(3_000, 0, 42)).toBe(nextPoll(3_000, 0, 42));
});

test('after failures the waits are 2, 4 … 60 s', () => {
  const longest = (failed: number) =>
    Math.max(...Array.from({ length: 400 }, (_, seed) => nextPoll(15_000, failed, seed)));
  expect([1, 2, 3, 4, 5, 6, 7, 20].map((failed) => Math.round(longest(failed) / 1_000))).toEqual([
    2, 4, 8, 16, 32, 60, 60, 60,
  ]);
});
