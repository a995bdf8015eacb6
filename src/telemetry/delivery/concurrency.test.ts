import { expect, test } from 'vitest';
import { Concurrency } from './concurrency.ts';

/** Rounds of 100 ms in which as many requests of 10 spans pass as may be in flight; `waiting` after each. */
const rounds = (concurrency: Concurrency, waiting: readonly number[], from = 0): number[] =>
  waiting.map((waits, i) => {
    const requests = concurrency.allowed;
    concurrency.passed(requests, requests * 10, () => ({ queued: waits, waiting: waits }), from + i * 100);
    return concurrency.allowed;
  });

test('a backlog that grows allows one more request each round, a backlog that shrinks does not', () => {
  expect(rounds(new Concurrency(), [100, 200, 300, 300, 290, 100])).toEqual([1, 2, 3, 4, 4, 4]);
  expect(rounds(new Concurrency(), [1_000, 990, 980, 970, 960])).toEqual([1, 1, 1, 1, 1]);
});

test('a backlog that shrinks while less of it is in flight does not grow', () => {
  const concurrency = new Concurrency();
  for (const [queued, waiting] of [
    [200, 100],
    [190, 190],
  ] as const)
    concurrency.passed(1, 10, () => ({ queued, waiting }), (200 - queued) * 20);
  concurrency.passed(1, 10, () => ({ queued: 180, waiting: 180 }), 500);
  expect(concurrency.allowed).toBe(1);
});

test('a backlog that the current pace clears by the next check does not count, however it jumps', () => {
  expect(rounds(new Concurrency(), [0, 10, 0, 9, 10, 8, 10])).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

test('never more than 16 requests are allowed, and fewer again when little waits', () => {
  const concurrency = new Concurrency();
  expect(rounds(concurrency, Array(30).fill(1_000)).at(-1)).toBe(16);
  expect(rounds(concurrency, Array(20).fill(0), 3_000)).toEqual([
    15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1,
  ]);
});

test('after an outage one request is allowed until the backlog has grown again', () => {
  const concurrency = new Concurrency();
  rounds(concurrency, Array(10).fill(1_000));
  concurrency.reset();
  expect(concurrency.allowed).toBe(1);
  expect(rounds(concurrency, [5_000, 4_990, 4_980, 4_990], 2_000)).toEqual([1, 1, 1, 2]);
});

test('the backlog is checked every 100 ms while requests are fast, and once a round when they are slow', () => {
  const fast = new Concurrency();
  for (let at = 0; at < 1_000; at++) fast.passed(1, 10, () => ({ queued: 1_000 + at, waiting: 2_000 }), at);
  expect(fast.allowed).toBe(10);
  const slow = new Concurrency();
  for (let i = 0; i < 6; i++) slow.passed(1, 10, () => ({ queued: 1_000, waiting: 1_000 }), i * 1_000);
  expect(slow.allowed).toBe(3);
});
