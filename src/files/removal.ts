import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import type { FileBytes } from './bytes.ts';
import { deleteRemoved, listRemoved } from './bytes-store.ts';

/** The channel that a trigger notifies when a file is deleted. */
export const removedChannel = 'removed_files';
/** Milliseconds between looks without a notification, and the files that one statement removes. */
const everyMs = 60_000;
const atOnce = 5;

/**
 * Removes the bytes of what was deleted. The rows that say so are written by triggers, so that it does not matter what
 * deleted a file: a request, its conversation, its agent or the retention.
 */
export const removalLoop = (db: Database, bytes: FileBytes, log: Logger): Loop =>
  new Loop({
    name: 'deleted files',
    log,
    tick: async () => {
      const ids = await db.run((executor) => listRemoved(executor, atOnce));
      if (ids.length === 0) return everyMs;
      await bytes.remove(ids);
      await db.run((executor) => deleteRemoved(executor, ids));
      return ids.length === atOnce ? 0 : everyMs;
    },
  });
