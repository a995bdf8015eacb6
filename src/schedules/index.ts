import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { readSettings } from '../settings/index.ts';
import { retainOccurrences } from './store.ts';

export { Firing, type FiringReport } from './firing.ts';
export { preview } from './preview.ts';
export { scheduleRoutes } from './routes.ts';

const retentionBatch = 5_000;
const retentionEveryMs = 600_000;

/** The loop that removes what happened to occurrences longer ago than OCCURRENCE_RETENTION_DAYS. */
export const occurrenceRetentionLoop = (db: Database, log: Logger): Loop =>
  new Loop({
    name: 'occurrence retention',
    log,
    turn: async () => {
      const removed = await db.tx(async (tx) => {
        const { OCCURRENCE_RETENTION_DAYS: days } = await readSettings(tx);
        return days === 0 ? 0 : retainOccurrences(tx, days, retentionBatch);
      });
      return removed === retentionBatch ? 0 : retentionEveryMs;
    },
  });
