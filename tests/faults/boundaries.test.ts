import { expect, test } from 'vitest';
import { runAtBoundaries } from './scenarios/boundaries.ts';
import { reportTotals } from './scenarios/totals.ts';

test('no occurrence is lost or doubled if the connection is lost before or after any statement of a firing, COMMIT too', async () => {
  const { statements, cuts, verification, kills } = await runAtBoundaries(10, 8);
  expect(statements.at(-1)).toBe('commit');
  // What is skipped is recorded in the same transaction.
  expect(statements.join()).toMatch(/update schedules.*insert into occurrences .* unnest/s);
  expect(cuts).toContain(`after ${statements.length - 1}`);
  expect(cuts.length).toBe(2 * (statements.length - 1));
  expect(kills).toBeGreaterThan(1);
  reportTotals('boundaries', verification, { kills, cuts: cuts.length });
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.fired).toBeGreaterThan(cuts.length);
}, 400_000);
