import { expect, test } from 'vitest';
import { runAtBoundaries } from './scenarios/boundaries.ts';

test('a connection lost before or after any statement of a firing, COMMIT too, loses and doubles no occurrence', async () => {
  const { statements, cuts, account, kills } = await runAtBoundaries(10, 5);
  expect(statements.at(-1)).toBe('commit');
  expect(cuts).toContain(`after ${statements.length - 1}`);
  expect(cuts.length).toBe(2 * (statements.length - 1));
  expect(kills).toBe(2);
  expect(account.problems).toEqual([]);
  expect(account.fired).toBeGreaterThan(cuts.length);
}, 120_000);
