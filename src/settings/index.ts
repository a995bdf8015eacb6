import type { Database } from '../database/index.ts';
import type { Feature } from '../feature.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Mutex } from '../lib/semaphore.ts';
import { settingsChannel, settingsRoutes } from './routes.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { readSettings } from './store.ts';

export { readSettings, type Settings };

/**
 * The settings as this replica last read them: for what needs them too often to ask the database (rate limit,
 * retention). A limit that a transaction enforces uses `readSettings` inside it.
 */
export interface CurrentSettings {
  /** The defaults until they were first read. */
  get(): Settings;
  onChange(listener: () => void): void;
}

export interface SettingsFeature extends Feature, CurrentSettings {
  /** Reads them, and follows their changes from then on. */
  start(): Promise<void>;
}

/** Advanced settings. */
export const createSettings = (db: Database, log: Logger): SettingsFeature => {
  let current = defaultSettings;
  const listeners: (() => void)[] = [];
  // One read after the other, or an older result that comes late would stay.
  const mutex = new Mutex();
  const refresh = (): Promise<void> =>
    mutex.run(async () => {
      current = await db.run(readSettings);
      for (const listener of listeners) listener();
    });
  return {
    tag: {
      name: 'Advanced settings',
      description: 'Limits and retention, effective at once on every replica.',
    },
    routes: settingsRoutes(db, refresh),
    start: async () => {
      db.listen(settingsChannel, () => {
        refresh().catch((error) =>
          log.warn({ error: messageOf(error) }, 'cannot read the advanced settings'),
        );
      });
      await refresh();
    },
    get: () => current,
    onChange: (listener) => void listeners.push(listener),
  };
};
