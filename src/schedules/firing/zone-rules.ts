import { compileSchedule, zoneRulesVersion } from '@agent-platform/cron';
import type { Database } from '../../database/index.ts';
import { claimOlderRules, updateRecomputed } from './store.ts';

/** Schedules recomputed in one transaction. */
const batchSize = 1_000;

/**
 * Gives schedules whose `next_run_at` older time-zone rules made a new one, strictly after the later of now and the
 * last occurrence. What newer rules made stays, and so does what is due: it fires first. Returns how many were old.
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
          // The present rules no longer know the zone: that is recorded when the schedule is due.
          return { id: row.id, next: row.next_run_at };
        }
      });
      await updateRecomputed(tx, recomputed, zoneRules);
      return rows.length;
    });
    total += n;
    if (n < batchSize) return total;
  }
};
