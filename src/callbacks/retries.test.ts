import { expect, test } from 'vitest';
import { retryDelayMs } from './retries.ts';

const hour = 3_600_000;

test('nine retries, after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h, and then no more', () => {
  const delays = Array.from({ length: 10 }, (_, i) => retryDelayMs(i + 1, null, 0.5));
  const inHours = [2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  expect(delays).toEqual([5_000, 300_000, 1_800_000, ...inHours, null]);
});

test('a delay is at most a fifth shorter or longer', () => {
  expect([retryDelayMs(1, null, 0), retryDelayMs(1, null, 1)]).toEqual([4_000, 6_000]);
  for (let i = 0; i < 100; i++)
    expect(Math.abs(retryDelayMs(2, null)! - 300_000)).toBeLessThanOrEqual(60_000);
});

test('Retry-After makes a delay longer, never shorter, and gives no further attempt', () => {
  expect(retryDelayMs(1, 60_000, 0.5)).toBe(60_000);
  expect(retryDelayMs(2, 1_000, 0.5)).toBe(300_000);
  expect(retryDelayMs(10, 60_000, 0.5)).toBeNull();
});
