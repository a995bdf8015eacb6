import { loadavg } from 'node:os';
import { startPostgres } from '../tests/harness/postgres.ts';
import { measureClaims } from './runtime/claims.ts';
import { measureConversations } from './runtime/conversations.ts';
import { measureThroughput } from './runtime/throughput.ts';
import { measureTransactions } from './runtime/transactions.ts';

/**
 * The agent runtime on PostgreSQL with fsync and the mock model, so that only the platform's own work is measured.
 * `RUNTIME_ITEMS` (2,000) is the number of Work Items of a round.
 */
export const run = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  await measureTransactions(postgres);
  await measureClaims(postgres);
  await measureThroughput(postgres);
  await measureConversations(postgres);
  console.log(
    `Load of the machine: ${loadavg()
      .map((value) => value.toFixed(1))
      .join(', ')}.`,
  );
};

if (import.meta.main) await run();
