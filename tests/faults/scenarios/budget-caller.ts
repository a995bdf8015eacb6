import { setTimeout as sleep } from 'node:timers/promises';
import { BudgetExceeded } from '../../../src/budgets/engine/refusals.ts';
import { openPostgres } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { charge, reserve, startEngine } from '../../harness/budgets.ts';
import { interceptStatements } from '../../harness/statements.ts';
import { until } from '../../harness/wait.ts';

/**
 * A replica that makes calls under budgets until its input ends: `budget-caller.ts URL CALLERS BOUND LEASE_SECONDS`. A
 * call takes a few milliseconds, or a tenth of a second, and spends up to its bound. One in fifty of what it commits is committed without a response.
 */
const [url, callers, bound, leaseSeconds] = process.argv.slice(2) as [string, string, string, string];

// It never outlives the process that started it.
process.stdin.resume().on('end', () => process.exit());

interceptStatements(async (statement, send) => {
  const result = await send(statement);
  const commits = /^commit|insert into charges/i.test(statement.text);
  if (commits && Math.random() < 0.02) throw new Error('Connection terminated unexpectedly');
  return result;
});

const opened = async () => {
  const db = await openPostgres(url, silentLogger);
  return { db, engine: await startEngine(db, { leaseSeconds: Number(leaseSeconds) }) };
};
// The database may be away.
const { db, engine } = await until(opened, 30_000);

const call = async (agentId: string): Promise<void> => {
  try {
    const reservation = await reserve(engine, Number(bound), { agentId });
    // Some are in flight whenever the replica is stopped.
    await sleep(Math.random() < 0.2 ? 100 : Math.random() * 5);
    await charge(db, reservation, 1 + Math.floor(Math.random() * Number(bound)));
  } catch (error) {
    await sleep(error instanceof BudgetExceeded ? 20 : 50);
  }
};

await Promise.all(
  Array.from({ length: Number(callers) }, async (_, k) => {
    for (;;) await call(`agent ${k % 2}`);
  }),
);
