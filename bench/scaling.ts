import { startPostgres } from '../tests/harness/postgres.ts';
import { measureItems, measureSchedules } from './scaling/kept.ts';
import { measureReplicas } from './scaling/replicas.ts';

/**
 * What more replicas, more schedules and more Work Items cost: firings, Work Items, spans and reads with 1 to 4
 * replicas, then next to 10,000 to 1,000,000 schedules and Work Items, and what the retention costs.
 * `SCALING_PARTS=replicas,schedules,items`; `SCALING_REPLICAS=1,2,3,4`; `SCALING_KEPT=10000,100000,1000000`; `SCALING_HERD`
 * (10,000), `SCALING_ITEMS` (2,000), `SCALING_READS` (4,000), `SCALING_SECONDS` of spans (5).
 */
const parts = (process.env.SCALING_PARTS ?? 'replicas,schedules,items').split(',');

export const run = async (): Promise<void> => {
  const postgres = await startPostgres({ durable: true, settings: { max_wal_size: '4GB' } });
  try {
    if (parts.includes('replicas')) await measureReplicas(postgres);
    if (parts.includes('schedules')) await measureSchedules(postgres);
    if (parts.includes('items')) await measureItems(postgres);
  } finally {
    await postgres.stop();
  }
};
