import { expect, test } from 'vitest';
import { runEdits } from './scenarios/edits.ts';
import { tell } from './scenarios/totals.ts';

test('reads, replacements, pauses, resumptions and deletions at the due instant lose, double and move no occurrence', async () => {
  const options = { schedules: 4, reads: 200, instants: 4, seed: 6 };
  const { account, problems, ...numbers } = await runEdits(options);
  tell('edits', account, { ...options, ...numbers });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(Object.values(numbers.changes).every((n) => n > 0)).toBe(true);
  expect(account.fired).toBeGreaterThan(options.schedules * options.instants);
}, 120_000);
