import type { Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import { showTls } from '../resource/index.ts';
import type { ConnectionSettings, EngineName } from './engines/settings.ts';
import type { DataConnectionRow } from './store.ts';

/** A connection with its settings open. */
export interface OpenedConnection {
  row: DataConnectionRow;
  settings: ConnectionSettings;
}

/** An engine and its configuration, as bodies have them. */
export interface Configured {
  engine: EngineName;
  configuration: unknown;
}

export const settingsOf = ({ engine, configuration }: Configured): ConnectionSettings =>
  ({ engine, ...(configuration as object) }) as ConnectionSettings;

const plain = ['engine', 'host', 'port', 'database', 'username', 'path'];

export const createSettingsStore = (vault: Vault) => {
  const sealed = new SealedSettings<ConnectionSettings>(vault, 'data_connections', plain);
  return {
    secrets: [sealed.column],
    seal: (id: string, settings: ConnectionSettings) => sealed.seal(id, settings),
    open: (row: DataConnectionRow): OpenedConnection => ({ row, settings: sealed.open(row) }),

    /** The settings for the audit log. */
    masked: (settings: ConnectionSettings): Record<string, unknown> => {
      const masked = sealed.masked(settings);
      if (!('tls' in settings)) return masked;
      return { ...masked, tls: { ...(masked.tls as object), mode: settings.tls.mode } };
    },
  };
};

export type ConnectionSettingsStore = ReturnType<typeof createSettingsStore>;

/** The configuration as the API shows it: whether there are secrets, not which. */
export const shownConfiguration = (settings: ConnectionSettings) => {
  if (settings.engine === 'sqlite') return { path: settings.path };
  const { host, port, database, username, password, tls } = settings;
  return {
    host,
    port,
    database,
    username,
    password_set: password !== undefined,
    tls: showTls(tls),
  };
};
