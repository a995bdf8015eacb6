import { expect, test } from 'vitest';
import { effects, work } from './scenarios/fail-over/kinds.ts';
import { runFailOvers } from './scenarios/fail-over.ts';
import { size } from './scenarios/fixture.ts';
import { reportTotals } from './scenarios/totals.ts';

const failOvers = size('FAULT_FAIL_OVERS', 40);
const schedules = size('FAULT_SCHEDULES', 40);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

test(`${failOvers} fail-overs of PostgreSQL under load, with kills of replicas: nothing acknowledged is lost, nothing is missing or doubled`, async () => {
  const loads = [...work, ...effects];
  const { verification, problems, figures, ...numbers } = await runFailOvers({
    failOvers,
    schedules,
    seed,
    loads,
  });
  reportTotals('fail-overs', verification, { seed, ...numbers, ...figures });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
});
