import { expect, test } from 'vitest';
import { runFailOvers } from './scenarios/fail-over.ts';

test('PostgreSQL fails over to its standby at the edge of a minute, also while the old primary lives: nothing acknowledged is lost, nothing is missing or doubled', async () => {
  const { verification, problems, ...numbers } = await runFailOvers({ failOvers: 2, schedules: 20, seed: 7 });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.fired + verification.caughtUp).toBeGreaterThan(20);
  expect(numbers.events).toBeGreaterThan(10);
  expect(numbers.approvals).toBeGreaterThan(0);
  // The database was away: requests failed and were sent again.
  expect(numbers.repeated, JSON.stringify(numbers)).toBeGreaterThan(0);
}, 400_000);
