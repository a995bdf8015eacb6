import { expect, test } from 'vitest';
import { runBudgets } from './scenarios/budgets.ts';

test('replicas that are killed and stand still never hold more than a limit, and leave nothing reserved', async () => {
  const { problems, charges, late, ...faults } = await runBudgets({ replicas: 3, rounds: 8 });
  expect(problems).toEqual([]);
  expect(late).toBeGreaterThan(0);
  expect(charges).toBeGreaterThan(100);
  expect(faults).toMatchObject({ kills: 6, stops: 2 });
}, 400_000);
