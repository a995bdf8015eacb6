import { expect, test } from 'vitest';
import { runEdits } from './scenarios/edits.ts';
import { size } from './scenarios/fixture.ts';
import { reportTotals } from './scenarios/totals.ts';

const schedules = size('FAULT_EDITED_SCHEDULES', 12);
const instants = size('FAULT_EDITED_INSTANTS', 60);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

test(`clients read, replace, pause, resume and delete at ${instants} due instants`, async () => {
  const options = { schedules, reads: 1_000, instants, seed };
  const { verification, problems, ...numbers } = await runEdits(options);
  reportTotals('edits', verification, { ...options, ...numbers });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(Object.values(numbers.changes).every((n) => n > 0)).toBe(true);
  expect(verification.fired).toBeGreaterThan((schedules * instants) / 4);
});
