import { expect, test } from 'vitest';
import { effects, work } from './scenarios/fail-over/kinds.ts';
import { runFailOvers } from './scenarios/fail-over.ts';

test('PostgreSQL fails over to its standby at the edge of a minute, also while the old primary lives: nothing acknowledged is lost, nothing is missing or doubled', async () => {
  const { verification, problems, ...numbers } = await runFailOvers({
    failOvers: 2,
    schedules: 20,
    seed: 7,
    loads: work,
  });
  const shown = JSON.stringify(numbers);
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.fired + verification.caughtUp).toBeGreaterThan(20);
  expect(numbers.figures.events).toBeGreaterThan(10);
  expect(numbers.figures.approvals).toBeGreaterThan(0);
  // The database was away: requests failed and were sent again.
  expect(numbers.repeated, shown).toBeGreaterThan(0);
}, 400_000);

test('PostgreSQL fails over under calls that cost money, calls of a tool server and messages of brokers: no budget is passed, no charge is lost, and each message has one Work Item', async () => {
  const { verification, problems, ...numbers } = await runFailOvers({
    failOvers: 2,
    schedules: 5,
    seed: 8,
    loads: effects,
  });
  const shown = JSON.stringify(numbers);
  console.log(`fail-over: ${shown}`);
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(numbers.figures.budgetRuns, shown).toMatchObject({
    COMPLETED: expect.any(Number),
    ERROR: expect.any(Number),
  });
  expect(numbers.figures.namedCosts, shown).toBeGreaterThan(5);
  expect(numbers.figures.calls, shown).toBeGreaterThan(5);
}, 400_000);
