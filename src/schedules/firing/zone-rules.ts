import type { Database } from '../../database/index.ts';
import { compileSchedule } from '../cron/occurrences.ts';
import { zoneRulesVersion } from '../cron/zones.ts';
import { claimOlderRules, setRecomputed } from './due.ts';

/** Schedules recomputed in one transaction. */
const batchSize = 1_000;

/**
 * Schedules whose `next_run_at` older time-zone rules made get a new one, strictly after the later of now and the
 * last occurrence. What newer rules made is left alone, and so is what is due: it fires first.
 */
export const recomputeOlderRules = async (db: Database, zoneRules = zoneRulesVersion): Promise<number> => {
  let total = 0;
  for (;;) {
    const n = await db.tx(async (tx) => {
      const rows = await claimOlderRules(tx, zoneRules, batchSize);
      if (rows.length === 0) return 0;
      const recomputed = rows.map((row) => {
        const after = Math.max(row.now.getTime(), row.last_occurrence?.getTime() ?? 0);
        try {
          const next = compileSchedule(row.cron_expression, row.timezone).next(after);
          return { id: row.id, next: next === null ? null : new Date(next) };
        } catch {
          // A zone that these rules no longer know: it is found out, and recorded, when it is due.
          return { id: row.id, next: row.next_run_at };
        }
      });
      await setRecomputed(tx, recomputed, zoneRules);
      return rows.length;
    });
    total += n;
    if (n < batchSize) return total;
  }
};
