/** The engines of data connections. `mysql` is MariaDB too. */
export const engineNames = ['postgres', 'mysql', 'sqlite'] as const;
export type EngineName = (typeof engineNames)[number];

export const tlsModes = ['disable', 'require', 'verify_full'] as const;

export interface TlsSettings {
  /** `require` encrypts without checking who the server is; `verify_full` checks its certificate and its name. */
  mode: (typeof tlsModes)[number];
  /** PEM, like the two below. Instead of the authorities that Node trusts. */
  ca?: string;
  client_certificate?: string;
  /** Secret. */
  client_key?: string;
}

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
