import { expect, test } from 'vitest';
import { runAtBoundaries } from './scenarios/boundaries.ts';
import { tell } from './scenarios/totals.ts';

test('a connection lost before or after any statement of a firing, COMMIT too, loses and doubles no occurrence', async () => {
  const { statements, cuts, account, kills } = await runAtBoundaries(10, 5);
  expect(statements.at(-1)).toBe('commit');
  // What is passed over is recorded in the same transaction.
  expect(statements.join()).toMatch(/update schedules.*insert into occurrences .* unnest/s);
  expect(cuts).toContain(`after ${statements.length - 1}`);
  expect(cuts.length).toBe(2 * (statements.length - 1));
  expect(kills).toBeGreaterThan(1);
  tell('boundaries', account, { kills, cuts: cuts.length });
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(account.fired).toBeGreaterThan(cuts.length);
}, 120_000);
