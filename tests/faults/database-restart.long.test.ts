import { expect, test } from 'vitest';
import { runDatabaseRestarts } from './scenarios/database-restart.ts';
import { size } from './scenarios/fixture.ts';
import { reportTotals } from './scenarios/totals.ts';

const restarts = size('FAULT_DATABASE_RESTARTS', 10);

test(`PostgreSQL stops and crashes ${restarts} times under load, and everything resumes by itself`, async () => {
  const signals = Array.from({ length: restarts }, (_, i): NodeJS.Signals => (i % 2 ? 'SIGKILL' : 'SIGINT'));
  const { verification, problems, ...numbers } = await runDatabaseRestarts(signals);
  reportTotals('database restarts', verification, numbers);
  expect(problems.slice(0, 10)).toEqual([]);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(numbers.slowestMs).toBeLessThan(10_000);
  expect(Math.max(...numbers.heardMs)).toBeLessThan(5_000);
});
