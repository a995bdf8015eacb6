import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { optional, text, validate } from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { tlsFaults as faultsOfTls, sameTls } from '../lib/tls.ts';
import { changedTls, createdTls, mergedTls } from '../resource/index.ts';
import { parseServer } from './servers.ts';
import {
  type ConnectionSettings,
  type KafkaSettings,
  type NatsSettings,
  saslMechanisms,
} from './settings.ts';

const server = text(260, 1)
  .refine((value) => parseServer(value) !== null, 'must be host:port, such as broker.example.com:9092')
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 260 } });
const servers = z
  .array(server)
  .min(1, 'must have at least one server')
  .max(10, 'must have at most 10 servers')
  .describe('`host:port`. An IPv6 address is in brackets.');
const username = text(256, 1);
const password = text(1_000, 1).describe('Never returned.');
const token = text(10_000, 1).describe('Never returned.');
const credentials = text(20_000, 1)
  .refine(
    (value) => /-----BEGIN NATS USER JWT-----[\s\S]*-----BEGIN USER NKEY SEED-----/.test(value),
    'must be the text of a credentials file, with a JWT and a seed',
  )
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 20_000 } })
  .describe('The text of a credentials file. Never returned.');
const mechanism = z.enum(saslMechanisms);

const shapes = {
  nats: z
    .object({
      servers,
      tls: createdTls,
      username: optional(username),
      password: optional(password),
      token: optional(token),
      credentials: optional(credentials),
    })
    .meta({ id: 'NatsSettings' }),
  kafka: z
    .object({
      brokers: servers,
      tls: createdTls,
      sasl: optional(z.object({ mechanism, username, password })),
    })
    .meta({ id: 'KafkaSettings' }),
};

/** The settings of each kind in the body of a create or a test. */
export const createdSettings = shapes;

const changed = {
  nats: z.object({
    servers: servers.optional(),
    tls: changedTls,
    username: username.nullish(),
    password: password.nullish(),
    token: token.nullish(),
    credentials: credentials.nullish(),
  }),
  kafka: z.object({
    brokers: servers.optional(),
    tls: changedTls,
    sasl: z
      .object({
        mechanism: mechanism.optional(),
        username: username.optional(),
        password: password.optional(),
      })
      .nullish(),
  }),
};

/** The settings in the body of an update, which the kind of the row decides. */
export const changedSettings = z.union([changed.nats, changed.kafka]);

const serversIn = (settings: ConnectionSettings): readonly string[] =>
  settings.kind === 'nats' ? settings.servers : settings.brokers;

/** Returns the changed field that decides where secrets are sent. A server that is left out is no other place. */
const movedField = (before: ConnectionSettings, after: ConnectionSettings): string | undefined => {
  const known = new Set(serversIn(before));
  if (serversIn(after).some((one) => !known.has(one))) return after.kind === 'nats' ? 'servers' : 'brokers';
  return sameTls(before.tls, after.tls) ? undefined : 'tls';
};

/** `null` in a change removes a value, undefined leaves it. */
const keep = <T>(old: T | undefined, next: T | null | undefined): T | undefined =>
  next === undefined ? old : (next ?? undefined);

const secretsOfNats = ['password', 'token', 'credentials'] as const;

const mergeNats = (
  before: NatsSettings,
  given: z.output<typeof changed.nats>,
): { after: NatsSettings; kept: string[] } => ({
  after: withoutUndefined({
    kind: 'nats' as const,
    servers: given.servers ?? before.servers,
    tls: mergedTls(before.tls, given.tls),
    username: keep(before.username, given.username),
    password: keep(before.password, given.password),
    token: keep(before.token, given.token),
    credentials: keep(before.credentials, given.credentials),
  }) as NatsSettings,
  kept: secretsOfNats.filter((name) => before[name] !== undefined && given[name] === undefined),
});

const mergeKafka = (
  before: KafkaSettings,
  given: z.output<typeof changed.kafka>,
): { after: KafkaSettings; kept: string[] } => {
  const merged = given.sasl === null ? undefined : { ...before.sasl, ...withoutUndefined(given.sasl ?? {}) };
  const hasSasl = merged !== undefined && Object.keys(merged).length > 0;
  const kept =
    before.sasl !== undefined && given.sasl !== null && given.sasl?.password === undefined
      ? ['sasl.password']
      : [];
  const after = withoutUndefined({
    kind: 'kafka' as const,
    brokers: given.brokers ?? before.brokers,
    tls: mergedTls(before.tls, given.tls),
    sasl: hasSasl ? merged : undefined,
  }) as KafkaSettings;
  return { after, kept };
};

/**
 * Returns `before` with the changes of a PATCH merged key by key. Throws 422 for wrong values, and if a stored secret
 * would go to another place than the one it was given for.
 */
export const mergeSettings = (before: ConnectionSettings, given: unknown): ConnectionSettings => {
  const { after, kept } =
    before.kind === 'nats'
      ? mergeNats(
          before,
          validate(z.object({ settings: changed.nats }), { settings: given }, 'body').settings,
        )
      : mergeKafka(
          before,
          validate(z.object({ settings: changed.kafka }), { settings: given }, 'body').settings,
        );
  const moved = movedField(before, after);
  if (moved !== undefined && kept.length > 0) {
    throw unprocessable(
      kept.map((name) => ({
        path: `settings.${name}`,
        message: `must be given again, because ${moved} changes`,
      })),
    );
  }
  return after;
};

const authenticationFaults = (settings: ConnectionSettings): Fault[] => {
  if (settings.kind === 'kafka') {
    const missing = (['mechanism', 'username', 'password'] as const).filter(
      (name) => settings.sasl !== undefined && settings.sasl[name] === undefined,
    );
    return missing.map((name) => ({ path: `settings.sasl.${name}`, message: 'is required with `sasl`' }));
  }
  const { username: user, password: secret, token: oneToken, credentials: file } = settings;
  if ((user === undefined) !== (secret === undefined)) {
    const missing = user === undefined ? 'username' : 'password';
    return [{ path: `settings.${missing}`, message: 'is required with the other of the two' }];
  }
  const given = [user && 'username', oneToken && 'token', file && 'credentials'].filter(Boolean);
  if (given.length <= 1) return [];
  return [
    {
      path: `settings.${given[1]}`,
      message: `cannot be combined with ${given[0]}; set one of them to null`,
    },
  ];
};

/** The faults that only all fields of the settings together show. */
const settingsFaults = (settings: ConnectionSettings): Fault[] => [
  ...authenticationFaults(settings),
  ...faultsOfTls(settings.tls, (field) => `settings.tls.${field}`),
];

/** Throws 422 for settings that could never be used. */
export const checkSettings = (settings: ConnectionSettings): void => {
  const faults = settingsFaults(settings);
  if (faults.length > 0) throw unprocessable(faults);
};

export const sameSettings = (a: ConnectionSettings, b: ConnectionSettings): boolean =>
  isDeepStrictEqual(withoutUndefined({ ...a }), withoutUndefined({ ...b }));
