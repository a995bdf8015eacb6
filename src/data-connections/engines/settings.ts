import type { TlsSettings } from '../../lib/tls.ts';

export type { TlsSettings } from '../../lib/tls.ts';

/** The engines of data connections. `mysql` is MariaDB too. */
export const engineNames = ['postgres', 'mysql', 'sqlite'] as const;
export type EngineName = (typeof engineNames)[number];

export interface ServerSettings {
  host: string;
  port: number;
  database: string;
  username: string;
  /** Secret. */
  password?: string;
  tls: TlsSettings;
}

/** A file below `SQLITE_DIR`. */
export interface FileSettings {
  path: string;
}

/** Settings as they are stored. */
export type ConnectionSettings =
  | ({ engine: 'postgres' | 'mysql' } & ServerSettings)
  | ({ engine: 'sqlite' } & FileSettings);
