import type { Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { TlsSettings } from '../lib/tls.ts';
import { showTls } from '../resource/index.ts';
import type { EventConnectionRow } from './store.ts';

export const connectionKinds = ['nats', 'kafka'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

export interface NatsSettings {
  kind: 'nats';
  /** `host:port`, tried in this order. */
  servers: string[];
  tls: TlsSettings;
  /** With a password; or else a token; or else credentials; or nothing. */
  username?: string;
  /** Secret. */
  password?: string;
  /** Secret. */
  token?: string;
  /** The text of a credentials file: a JWT and the seed of its key. Secret. */
  credentials?: string;
}

export interface KafkaSettings {
  kind: 'kafka';
  /** `host:port`. They advertise the addresses of all brokers. */
  brokers: string[];
  tls: TlsSettings;
  sasl?: { mechanism: (typeof saslMechanisms)[number]; username: string /** Secret. */; password: string };
}

/** Settings as they are stored. */
export type ConnectionSettings = NatsSettings | KafkaSettings;

/** A kind and its settings, as bodies have them. */
export interface Configured {
  kind: ConnectionKind;
  settings: unknown;
}

export const settingsOf = ({ kind, settings }: Configured): ConnectionSettings =>
  ({ kind, ...(settings as object) }) as ConnectionSettings;

export const createSettingsStore = (vault: Vault) => {
  const sealed = new SealedSettings<ConnectionSettings>(vault, 'event_connections', [
    'kind',
    'servers',
    'brokers',
    'username',
  ]);
  return {
    secrets: [sealed.column],
    seal: (id: string, settings: ConnectionSettings) => sealed.seal(id, settings),
    open: (row: Pick<EventConnectionRow, 'id' | 'settings'>): ConnectionSettings => sealed.open(row),

    /** The settings for the audit log. */
    masked: (settings: ConnectionSettings): Record<string, unknown> => {
      const masked = sealed.masked(settings);
      const tls = { ...(masked.tls as object), mode: settings.tls.mode };
      if (settings.kind === 'nats' || settings.sasl === undefined) return { ...masked, tls };
      const { mechanism, username } = settings.sasl;
      return { ...masked, tls, sasl: { ...(masked.sasl as object), mechanism, username } };
    },
  };
};

export type ConnectionSettingsStore = ReturnType<typeof createSettingsStore>;

/** The settings as the API shows them: whether there are secrets, not which. */
export const shownSettings = (settings: ConnectionSettings) => {
  const tls = showTls(settings.tls);
  if (settings.kind === 'nats') {
    const { servers, username, password, token, credentials } = settings;
    return {
      servers,
      tls,
      username: username ?? null,
      password_set: password !== undefined,
      token_set: token !== undefined,
      credentials_set: credentials !== undefined,
    };
  }
  const { brokers, sasl } = settings;
  return {
    brokers,
    tls,
    sasl: sasl ? { mechanism: sasl.mechanism, username: sasl.username, password_set: true } : null,
  };
};
