import type { Database } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { settingsChannel, settingsRoutes } from './routes.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { readSettings } from './store.ts';

export { readSettings, type Settings, settingsRoutes };

/**
 * The settings as this replica last heard them: for what reads them too often to ask the database (rate limit,
 * retention). A limit that a transaction enforces uses `readSettings` inside it.
 */
export interface CurrentSettings {
  get(): Settings;
  /** Read them again now: a change was made here, and its notification has yet to come. */
  refresh(): Promise<void>;
  onChange(listener: () => void): void;
}

export const watchSettings = async (db: Database, log: Logger): Promise<CurrentSettings> => {
  let current = defaultSettings;
  const listeners: (() => void)[] = [];
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    current = await db.run(readSettings);
    for (const listener of listeners) listener();
  };
  // One after the other, or an older answer that comes late would stay.
  const refresh = (): Promise<void> => {
    reading = reading.catch(() => {}).then(read);
    return reading;
  };
  db.listen(settingsChannel, () => {
    refresh().catch((error) => log.warn({ error: messageOf(error) }, 'cannot read the advanced settings'));
  });
  await refresh();
  return { get: () => current, refresh, onChange: (listener) => void listeners.push(listener) };
};
