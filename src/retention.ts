import type { Database, Tx } from './database/index.ts';
import { deleteExpiredKeys } from './http/index.ts';
import type { Logger } from './lib/log.ts';
import { Loop } from './lib/loop.ts';
import { retainOccurrences } from './schedules/index.ts';
import { readSettings, type Settings } from './settings/index.ts';
import { retainWorkItems } from './work-items/index.ts';

/** Rows removed in one transaction: few enough that nobody waits for it. */
const batch = 2_000;
const everyMs = 3_600_000;

const kinds: ((tx: Tx, settings: Settings) => Promise<number>)[] = [
  (tx, settings) => retainWorkItems(tx, settings.WORK_ITEM_RETENTION_DAYS, batch),
  (tx, settings) => retainOccurrences(tx, settings.OCCURRENCE_RETENTION_DAYS, batch),
  (tx) => deleteExpiredKeys(tx, batch),
];

/** The loop that removes what is older than the advanced settings keep, batch by batch, every hour. */
export const retentionLoop = (db: Database, log: Logger): Loop =>
  new Loop({
    name: 'retention',
    log,
    tick: async (signal) => {
      for (const remove of kinds) {
        let removed: number;
        do {
          removed = await db.tx(async (tx) => remove(tx, await readSettings(tx)));
        } while (removed === batch && !signal.aborted);
      }
      return everyMs;
    },
  });
