import { expect, test } from 'vitest';
import { runReplicas } from './scenarios/replicas.ts';
import { tell } from './scenarios/totals.ts';

test('4 replicas of mixed roles, killed, frozen and cut off while the clock jumps, fire every occurrence once', async () => {
  const options = { replicas: 4, schedules: 60, moves: 30, kills: 4, seed: 4 };
  const { account, ...numbers } = await runReplicas(options);
  tell('replicas', account, { ...options, ...numbers });
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(account.occurrences).toBeGreaterThan(1_000);
  expect(account.fired).toBeGreaterThan(500);
  expect(numbers).toMatchObject({ kills: 4, freezes: 1, cuts: 1 });
  expect(numbers.backwards).toBeGreaterThan(0);
}, 180_000);
