import { expect, test } from 'vitest';
import { migrate, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { startPostgres } from '../harness/postgres.ts';
import { runBudgets } from './scenarios/budgets.ts';

test('four replicas, a thousand rounds, a database that is killed: no limit is exceeded but by late charges', async () => {
  await using server = await startPostgres();
  const db = await openPostgres(server.url, silentLogger);
  await migrate(db, silentLogger);
  await db.close();
  const { problems, ...report } = await runBudgets({
    replicas: 4,
    rounds: Number(process.env.FAULT_BUDGET_ROUNDS ?? 1_000),
    server,
  });
  console.log(JSON.stringify(report));
  expect(problems).toEqual([]);
  expect(report.charges).toBeGreaterThan(1_000);
}, 7_200_000);
