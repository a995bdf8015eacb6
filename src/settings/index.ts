import type { Database, Tx } from '../database/index.ts';
import type { Feature } from '../feature.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Actor } from '../lib/principal.ts';
import { Mutex } from '../lib/semaphore.ts';
import { changeSettings, checkSettings, type SettingsHook, settingsChannel } from './change.ts';
import { settingsRoutes } from './routes.ts';
import {
  defaultSettings,
  type SettingName,
  type Settings,
  settingDefinitions,
  settingNames,
  settingScopes,
} from './settings.ts';
import { readSettings, settingNumber } from './store.ts';

export {
  checkSettings,
  defaultSettings,
  readSettings,
  type SettingName,
  type Settings,
  settingDefinitions,
  settingNames,
  settingNumber,
  settingScopes,
};

/**
 * The settings as this replica last read them, for what uses them too often for a query (rate limit, retention). A
 * limit that a transaction enforces calls `readSettings` in that transaction.
 */
export interface CurrentSettings {
  /** Returns the settings; the defaults before the first read. */
  get(): Settings;
  /** Calls `listener` after every read. */
  onChange(listener: () => void): void;
  /** Runs `hook` in each transaction that changes settings, on the replica that changes them. */
  inTransaction(hook: SettingsHook): void;
}

export interface SettingsFeature extends Feature, CurrentSettings {
  /** Changes the settings that `body` names, as the route does. Call `refresh` after the transaction. */
  change(tx: Tx, actor: Actor, body: Record<string, unknown>): Promise<Settings>;
  /** Resolves when the changes are in effect on this replica. */
  refresh(): Promise<void>;
  /** Reads the settings, and reads them again whenever one changes. */
  start(): Promise<void>;
}

/** Advanced settings. */
export const createSettings = (db: Database, log: Logger): SettingsFeature => {
  let current = defaultSettings;
  const listeners: (() => void)[] = [];
  const hooks: SettingsHook[] = [];
  // One read at a time: otherwise an older result that arrives late would stay.
  const mutex = new Mutex();
  const refresh = (): Promise<void> =>
    mutex.run(async () => {
      current = await db.run(readSettings);
      for (const listener of listeners) listener();
    });
  const refreshOnChange = (): void => {
    refresh().catch((error) => log.warn({ error: messageOf(error) }, 'cannot read the advanced settings'));
  };
  return {
    tag: {
      name: 'Advanced settings',
      description: 'Limits and retention, effective at once on every replica.',
    },
    routes: settingsRoutes(db, hooks, refresh),
    start: async () => {
      db.listen(settingsChannel, refreshOnChange);
      await refresh();
    },
    change: (tx, actor, body) => changeSettings(tx, actor, body, hooks),
    refresh,
    get: () => current,
    onChange: (listener) => void listeners.push(listener),
    inTransaction: (hook) => void hooks.push(hook),
  };
};
