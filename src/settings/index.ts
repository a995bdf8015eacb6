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
  onChange(listener: () => void): void;
}

export const watchSettings = async (db: Database, log: Logger): Promise<CurrentSettings> => {
  let current = defaultSettings;
  const listeners: (() => void)[] = [];
  const read = async (): Promise<void> => {
    current = await db.read(readSettings);
    for (const listener of listeners) listener();
  };
  db.listen(settingsChannel, () => {
    read().catch((error) => log.warn({ error: messageOf(error) }, 'cannot read the advanced settings'));
  });
  await read();
  return { get: () => current, onChange: (listener) => void listeners.push(listener) };
};
