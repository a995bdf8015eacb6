import { expect, test } from 'vitest';
import { runReplicas } from './scenarios/replicas.ts';
import { reportTotals } from './scenarios/totals.ts';

test('3 replicas of mixed roles, killed, frozen and cut off while the clock jumps, fire every occurrence once', async () => {
  const options = { replicas: 3, schedules: 40, moves: 24, kills: 3, seed: 4 };
  const { verification, ...numbers } = await runReplicas(options);
  reportTotals('replicas', verification, { ...options, ...numbers });
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.occurrences).toBeGreaterThan(500);
  expect(verification.fired).toBeGreaterThan(200);
  expect(numbers).toMatchObject({ kills: 3, freezes: 1, cuts: 1 });
  expect(numbers.backwards).toBeGreaterThan(0);
}, 400_000);
