import { z } from 'zod';
import { optional, text, validate } from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { tlsFaults as faultsOfTls, sameTls } from '../lib/tls.ts';
import { changedTls, createdTls, isHost, mergedTls } from '../resource/index.ts';
import type { ConnectionSettings, ServerSettings } from './engines/settings.ts';

const host = text(253, 1)
  .refine(isHost, 'must be the name of a host or an IP address, not an address with a scheme, port or path')
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 253 } })
  .describe('A host name or an IP address.');
const port = z.int().min(1).max(65_535);
const database = text(128, 1);
const username = text(128, 1);
const password = text(1_000).describe('Never returned.');

const path = text(1_000, 1).describe('The file, relative to `SQLITE_DIR`.');

const server = (defaultPort: number, id: string) =>
  z
    .object({
      host,
      port: optional(port, defaultPort),
      database,
      username,
      password: optional(password).transform((value) => value || undefined),
      tls: createdTls,
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
  tls: changedTls,
});

/** The configuration in the body of an update, which the engine of the row decides. */
export const changedConfiguration = z.union([changedServer, z.object({ path: path.optional() })]);

const changed = {
  postgres: z.object({ configuration: changedServer }),
  mysql: z.object({ configuration: changedServer }),
  sqlite: z.object({ configuration: z.object({ path: path.optional() }) }),
};

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
export const tlsFaults = (settings: ConnectionSettings): Fault[] =>
  settings.engine === 'sqlite' ? [] : faultsOfTls(settings.tls, (field) => `configuration.tls.${field}`);

export const sameConfiguration = (a: ConnectionSettings, b: ConnectionSettings): boolean => {
  if (a.engine === 'sqlite' || b.engine === 'sqlite') {
    return a.engine === b.engine && (a as { path: string }).path === (b as { path: string }).path;
  }
  return movedField(a, b) === undefined && a.database === b.database && a.password === b.password;
};
