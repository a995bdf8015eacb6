import { expect, test } from 'vitest';
import { runDatabaseRestarts } from './scenarios/database-restart.ts';
import { size } from './scenarios/fixture.ts';
import { tell } from './scenarios/totals.ts';

const restarts = size('FAULT_DATABASE_RESTARTS', 10);

test(`PostgreSQL stops and crashes ${restarts} times under load, and all goes on by itself`, async () => {
  const signals = Array.from({ length: restarts }, (_, i): NodeJS.Signals => (i % 2 ? 'SIGKILL' : 'SIGINT'));
  const { account, problems, ...numbers } = await runDatabaseRestarts(signals);
  tell('database restarts', account, numbers);
  expect(problems.slice(0, 10)).toEqual([]);
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(numbers.slowestMs).toBeLessThan(10_000);
  expect(Math.max(...numbers.heardMs)).toBeLessThan(5_000);
});
