import type { Retention, Services } from './feature.ts';
import { Loop } from './lib/loop.ts';
import { readSettings } from './settings/index.ts';

/** The number of rows that one transaction deletes: few enough that nothing waits for it. */
const batch = 2_000;
const everyMs = 3_600_000;

/** Makes the loop that deletes what is older than the advanced settings keep, batch by batch, every hour. */
export const retentionLoop = ({ db, log }: Services, retention: readonly Retention[]): Loop =>
  new Loop({
    name: 'retention',
    log,
    tick: async (signal) => {
      for (const remove of retention) {
        let removed: number;
        do {
          removed = await db.tx(async (tx) => remove(tx, await readSettings(tx), batch));
        } while (removed === batch && !signal.aborted);
      }
      return everyMs;
    },
  });
