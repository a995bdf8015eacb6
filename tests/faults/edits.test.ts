import { expect, test } from 'vitest';
import { runEdits } from './scenarios/edits.ts';
import { reportTotals } from './scenarios/totals.ts';

test('reads, replacements, pauses, resumptions and deletions at the due instant do not lose, double or move an occurrence', async () => {
  const options = { schedules: 4, reads: 200, instants: 4, seed: 6 };
  const { verification, problems, ...numbers } = await runEdits(options);
  reportTotals('edits', verification, { ...options, ...numbers });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(Object.values(numbers.changes).every((n) => n > 0)).toBe(true);
  expect(verification.fired).toBeGreaterThan(options.schedules * options.instants);
}, 120_000);
