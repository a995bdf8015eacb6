import type { Retention, Services } from './feature.ts';
import { Loop } from './lib/loop.ts';
import { readSettings } from './settings/index.ts';

/** The number of rows that one transaction deletes: few enough that nothing waits for it. */
const batch = 2_000;
const everyMs = 3_600_000;
/**
 * After a full batch. At 100 Work Items a second an hour's worth is 360,000, which with all their rows keep the
 * database busy for minutes in one piece; a minute's worth takes a second or two.
 */
const soonMs = 60_000;

/**
 * Makes the loop that deletes what is older than the advanced settings keep, batch by batch: every hour, and every
 * minute what there is much of.
 */
export const retentionLoop = (
  { db, log }: Pick<Services, 'db' | 'log'>,
  retention: readonly Retention[],
): Loop => {
  const all = retention.map((remove) => ({ remove, dueAt: 0 }));
  return new Loop({
    name: 'retention',
    log,
    tick: async (signal) => {
      for (const one of all) {
        if (one.dueAt > performance.now()) continue;
        let removed: number;
        let wait = everyMs;
        do {
          removed = await db.tx(async (tx) => one.remove(tx, await readSettings(tx), batch));
          if (removed === batch) wait = soonMs;
        } while (removed === batch && !signal.aborted);
        one.dueAt = performance.now() + wait;
      }
      return Math.max(0, Math.ceil(Math.min(...all.map(({ dueAt }) => dueAt)) - performance.now()));
    },
  });
};
