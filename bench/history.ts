import { startPostgres } from '../tests/harness/postgres.ts';
import { measureItems } from './history/items.ts';
import { measureSchedules } from './history/schedules.ts';
import { refuseTooMuch } from './history/tables.ts';

const sizes = {
  workItems: Number(process.env.HISTORY_WORK_ITEMS ?? 20_000_000),
  minutes: Number(process.env.HISTORY_MINUTES ?? 30),
  perSecond: Number(process.env.HISTORY_PER_SECOND ?? 100),
  readsPerSecond: Number(process.env.HISTORY_READS ?? 20),
};
const schedules = Number(process.env.HISTORY_SCHEDULES ?? 10_000_000);

/**
 * A long history: schedules fire at a steady rate, their Work Items are carried out, clients read, and the retention
 * removes as many as fire, next to `HISTORY_WORK_ITEMS` with all that the product keeps of them (20,000,000), for
 * `HISTORY_MINUTES` (30) with `HISTORY_PER_SECOND` firings (100) and `HISTORY_READS` reads (20) a second. Then a look
 * ahead, a start and a herd next to `HISTORY_SCHEDULES` (10,000,000). `HISTORY_PARTS=items,schedules`;
 * `HISTORY_BACKLOG_SECONDS` (60) of Work Items are too old at the start; `HISTORY_POSTGRES` has settings of PostgreSQL
 * as JSON. It refuses what the disk has no room for, unless `HISTORY_DISK` is `compressed`, and removes what it made.
 */
export const run = async (): Promise<void> => {
  const parts = (process.env.HISTORY_PARTS ?? 'items,schedules').split(',');
  await refuseTooMuch(
    parts.includes('items') ? sizes.workItems : 0,
    parts.includes('schedules') ? schedules : 0,
  );
  await using postgres = await startPostgres({
    durable: true,
    settings: { max_wal_size: '4GB', ...JSON.parse(process.env.HISTORY_POSTGRES ?? '{}') },
  });
  if (parts.includes('items')) await measureItems(postgres, sizes);
  if (parts.includes('schedules')) await measureSchedules(postgres, schedules);
};

if (import.meta.main) await run();
