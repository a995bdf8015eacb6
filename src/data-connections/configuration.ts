import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { optional, text, validate } from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { withoutUndefined } from '../lib/objects.ts';
import {
  type ConnectionSettings,
  type ServerSettings,
  type TlsSettings,
  tlsModes,
} from './engines/settings.ts';

const isHost = (value: string): boolean => isIP(value) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9._-]*)$/.test(value);

const host = text(253, 1)
  .refine(isHost, 'must be the name of a host or an IP address, not an address with a scheme, port or path')
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 253 } })
  .describe('A host name or an IP address.');
const port = z.int().min(1).max(65_535);
const database = text(128, 1);
const username = text(128, 1);
const password = text(1_000).describe('Never returned.');

const pem = (label: string) =>
  text(100_000, 1).refine((value) => value.includes(`-----BEGIN ${label}`), 'must be in PEM');
const certificates = pem('CERTIFICATE');
const key = text(100_000, 1)
  .refine((value) => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value), 'must be a private key in PEM')
  .describe('Never returned.');
const mode = z
  .enum(tlsModes)
  .describe(
    '`verify_full` checks the certificate and the name of the host, `require` only encrypts, `disable` sends everything in clear text.',
  );
const tlsShape = {
  mode,
  ca: certificates.describe('Certificates to trust instead of the public authorities.'),
  client_certificate: certificates,
  client_key: key,
};

const createdTls = z
  .object({
    mode: optional(tlsShape.mode, 'verify_full' as const),
    ca: optional(tlsShape.ca),
    client_certificate: optional(tlsShape.client_certificate),
    client_key: optional(tlsShape.client_key),
  })
  .transform((tls) => withoutUndefined(tls) as TlsSettings);

const path = text(1_000, 1).describe('The file, relative to `SQLITE_DIR`.');

const server = (defaultPort: number, id: string) =>
  z
    .object({
      host,
      port: optional(port, defaultPort),
      database,
      username,
      password: optional(password).transform((value) => value || undefined),
      tls: optional(createdTls).transform((tls): TlsSettings => tls ?? { mode: 'verify_full' }),
    })
    .meta({ id });

/** The configuration of each engine in the body of a create or a test. */
export const createdConfigurations = {
  postgres: server(5_432, 'PostgresConfiguration'),
  mysql: server(3_306, 'MysqlConfiguration'),
  sqlite: z.object({ path }).meta({ id: 'SqliteConfiguration' }),
};

const changedServer = z.object({
  host: host.optional(),
  port: port.optional(),
  database: database.optional(),
  username: username.optional(),
  password: password.nullish().describe('null or an empty text removes it. Never returned.'),
  tls: z
    .object({
      mode: mode.nullish(),
      ca: tlsShape.ca.nullish(),
      client_certificate: tlsShape.client_certificate.nullish(),
      client_key: tlsShape.client_key.nullish(),
    })
    .nullish(),
});

/** The configuration in the body of an update, which the engine of the row decides. */
export const changedConfiguration = z.union([changedServer, z.object({ path: path.optional() })]);

const changed = {
  postgres: z.object({ configuration: changedServer }),
  mysql: z.object({ configuration: changedServer }),
  sqlite: z.object({ configuration: z.object({ path: path.optional() }) }),
};

const mergedTls = (before: TlsSettings, changes: z.output<typeof changedServer>['tls']): TlsSettings => {
  if (changes === undefined) return before;
  if (changes === null) return { mode: 'verify_full' };
  const keep = <T>(old: T, next: T | null | undefined) => (next === undefined ? old : (next ?? undefined));
  return withoutUndefined({
    mode: keep(before.mode, changes.mode) ?? 'verify_full',
    ca: keep(before.ca, changes.ca),
    client_certificate: keep(before.client_certificate, changes.client_certificate),
    client_key: keep(before.client_key, changes.client_key),
  });
};

const sameTls = (a: TlsSettings, b: TlsSettings): boolean =>
  (['mode', 'ca', 'client_certificate', 'client_key'] as const).every((field) => a[field] === b[field]);

/** Returns the changed field that decides where the password is sent. */
const movedField = (before: ServerSettings, after: ServerSettings): string | undefined => {
  const field = (['host', 'port', 'username'] as const).find((name) => before[name] !== after[name]);
  return field ?? (sameTls(before.tls, after.tls) ? undefined : 'tls');
};

/**
 * Returns `before` with the changes of a PATCH merged key by key. Throws 422 for wrong values, and if the stored
 * password would go to another place than the one it was given for.
 */
export const mergeConfiguration = (before: ConnectionSettings, given: unknown): ConnectionSettings => {
  const body = { configuration: given };
  if (before.engine === 'sqlite') {
    const { path: changedPath } = validate(changed.sqlite, body, 'body').configuration;
    return { ...before, path: changedPath ?? before.path };
  }
  const {
    tls,
    password: changedPassword,
    ...fields
  } = validate(changed[before.engine], body, 'body').configuration;
  const after = withoutUndefined({
    ...before,
    ...withoutUndefined(fields),
    password: changedPassword === undefined ? before.password : changedPassword || undefined,
    tls: mergedTls(before.tls, tls),
  }) as ConnectionSettings & ServerSettings;
  const moved = movedField(before, after);
  if (moved !== undefined && before.password !== undefined && !changedPassword) {
    throw unprocessable([
      { path: 'configuration.password', message: `must be given again, because ${moved} changes` },
    ]);
  }
  return after;
};

/** The faults of certificates and keys, which would otherwise show at each connection. */
export const tlsFaults = (settings: ConnectionSettings): Fault[] => {
  if (settings.engine === 'sqlite') return [];
  const { ca, client_certificate, client_key } = settings.tls;
  if ((client_certificate === undefined) !== (client_key === undefined)) {
    const missing = client_key === undefined ? 'client_key' : 'client_certificate';
    return [{ path: `configuration.tls.${missing}`, message: 'is required with the other of the two' }];
  }
  const faults: Fault[] = [];
  const check = (field: string, message: string, read: () => unknown): void => {
    try {
      read();
    } catch {
      faults.push({ path: `configuration.tls.${field}`, message });
    }
  };
  if (ca !== undefined) check('ca', 'cannot be read', () => readCertificates(ca));
  if (client_certificate !== undefined) {
    check('client_certificate', 'cannot be read', () => readCertificates(client_certificate));
    check('client_key', 'cannot be read, or does not belong to client_certificate', () =>
      createSecureContext({ cert: client_certificate, key: client_key }),
    );
  }
  return faults;
};

/** Throws unless all certificates can be read. OpenSSL passes over those that it cannot. */
const readCertificates = (pem: string): void => {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (!found) throw new Error('no certificate');
  for (const one of found) new X509Certificate(one);
};

export const sameConfiguration = (a: ConnectionSettings, b: ConnectionSettings): boolean => {
  if (a.engine === 'sqlite' || b.engine === 'sqlite') {
    return a.engine === b.engine && (a as { path: string }).path === (b as { path: string }).path;
  }
  return movedField(a, b) === undefined && a.database === b.database && a.password === b.password;
};
