import { isIP } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from './lib/config-error.ts';
import './lib/fault-words.ts';
import { type NatsAddress, parseNatsAddress } from '@agent-platform/otlp/jetstream';
import { Secret } from './lib/crypto.ts';
import { urlFault } from './lib/http-url.ts';
import { type Proxies, parseNoProxy, parseProxy, proxyFault, proxyVariable } from './lib/outgoing-proxy.ts';
import { parseResourceAttributes } from './lib/resource-attributes.ts';
import { isSecure, type OidcConfig, oidcEnvironment, oidcMistakes, readOidc } from './oidc-config.ts';

export { ConfigError };

/** The roles of a replica: which loops it runs, and whether it serves the API. */
const replicaRoles = ['api', 'scheduler', 'worker', 'delivery'] as const;
export type ReplicaRole = (typeof replicaRoles)[number];

const isCidr = (value: string): boolean => {
  const [address = '', bits, ...rest] = value.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
};

const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const cidrs = z
  .string()
  .transform(list)
  .refine((items) => items.every(isCidr), 'must be a comma-separated list of addresses or CIDR ranges')
  .transform((items) =>
    items.map((item) => (item.includes('/') ? item : `${item}/${isIP(item) === 4 ? 32 : 128}`)),
  );

const httpUrl = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    'must be an http or https address',
  )
  .transform((value) => value.replace(/\/+$/, ''));

const encryptionKeys = z
  .string()
  .transform(list)
  .refine((keys) => keys.length > 0, 'must not be empty')
  .refine(
    (keys) =>
      keys.every((key) => /^[A-Za-z0-9+/_-]{43}=?$/.test(key) && Buffer.from(key, 'base64').length === 32),
    'must be 32 bytes in base64 (`openssl rand -base64 32`), or a comma-separated list of such keys',
  )
  .transform((keys) => keys.map((key) => Buffer.from(key, 'base64')));

const postgresUrl = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol),
    'must be a postgres:// address',
  );

const outgoingProxy = z
  .string()
  .transform(parseProxy)
  .refine((proxy) => proxy !== null, proxyFault)
  .optional();

const port = z
  .string()
  .refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, 'must be a port from 0 to 65535')
  .transform(Number);

const environment = z.object({
  PORT: port.prefault('8080'),
  MANAGEMENT_PORT: port.optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('./data'),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_LISTEN_URL: postgresUrl.optional(),
  BOOTSTRAP_ADMIN_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must be 32 to 512 visible ASCII characters')
    .optional(),
  ENCRYPTION_KEY: encryptionKeys.optional(),
  PUBLIC_URL: httpUrl.optional(),
  ROLES: z
    .string()
    .default(replicaRoles.join(','))
    .transform(list)
    .refine(
      (roles): roles is ReplicaRole[] =>
        roles.length > 0 && roles.every((r) => replicaRoles.includes(r as ReplicaRole)),
      `must be a comma-separated list of ${replicaRoles.join(', ')}`,
    ),
  SQLITE_DIR: z.string().optional(),
  URL_PLACEHOLDERS: z
    .string()
    .default('')
    .transform(list)
    .refine(
      (names) => names.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
      'must be a comma-separated list of names of environment variables',
    ),
  TELEMETRY_LOG_URL: z
    .string()
    .transform(parseNatsAddress)
    .refine(
      (address) => address !== null,
      'must be a nats:// or tls:// address, as nats://host:4222/stream, or a list of those of one cluster, as nats://a:4222,b:4222,c:4222',
    )
    .optional(),
  ALLOW_STDIO_TOOL_SERVERS: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((value) => value === 'true'),
  EGRESS_DENY: cidrs.optional(),
  EGRESS_ALLOW: cidrs.optional(),
  EGRESS_MEMBERS_ALLOW: cidrs.optional(),
  HTTP_PROXY: outgoingProxy,
  HTTPS_PROXY: outgoingProxy,
  NO_PROXY: z.string().optional(),
  TRUST_PROXY: cidrs.optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  HEARTBEAT_URL: z
    .string()
    .refine(
      (value) => isSecure(value) && urlFault(value) === null,
      'must be an https address (http only on loopback) without credentials, of at most 2,048 characters',
    )
    .transform((value) => new Secret(value))
    .optional(),
  HEARTBEAT_SECONDS: z
    .string()
    .default('60')
    .refine(
      (value) => /^\d{1,4}$/.test(value) && Number(value) >= 10 && Number(value) <= 3_600,
      'must be a whole number from 10 to 3600',
    )
    .transform(Number),
  AUDIT_TO_LOG: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
  LLM_TRACING_PROJECT_HEADER: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP header')
    .optional(),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .transform(parseResourceAttributes)
    .refine(
      (attributes) => attributes !== null,
      'must be key=value pairs with commas between them, percent-encoded, as service.namespace=agents,deployment.environment=staging',
    )
    .optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  ...oidcEnvironment,
});

/** The configuration of one replica, from its environment. */
export interface Config {
  port: number;
  /** The port that has `/metrics` instead of `port`; null: there is none. */
  managementPort: number | null;
  host: string;
  dataDir: string;
  databaseUrl: string | null;
  /** The source of notifications of the same database, if they do not come over `databaseUrl`. */
  databaseListenUrl: string | null;
  /** The telemetry log that all replicas share; null: this replica has its own in the data folder. */
  telemetryLog: NatsAddress | null;
  bootstrapKey: string | null;
  /** 32 bytes each; null: the first start generates one in the data folder. */
  encryptionKeys: Buffer[] | null;
  /** The folder of the SQLite files that data connections may name. */
  sqliteDir: string;
  /** Null: `http://HOST:PORT`, with the port that the server listens on. */
  publicUrl: string | null;
  roles: ReadonlySet<ReplicaRole>;
  /** The variables that `${NAME}` in an integration's url may use, with their values; undefined where unset. */
  urlPlaceholders: ReadonlyMap<string, string | undefined>;
  egress: {
    deny: string[] | null;
    allow: string[];
    /** Which addresses that are not public callbacks of members may reach. */
    membersAllow: string[];
  };
  /** The proxies of outgoing requests; undefined: none. */
  proxies: Proxies | undefined;
  /** True if tool servers may be local processes. */
  allowStdioToolServers: boolean;
  /** PATH, where the commands of local tool servers are found. */
  path: string;
  trustProxy: string[];
  logLevel: string;
  /** The address that is called while schedules fire, and how often; null: none. */
  heartbeat: { url: Secret; seconds: number } | null;
  /** True if each chained entry of the audit log is also a line on standard output. */
  auditToLog: boolean;
  /** Null: an integration that names no header sends all that are known. */
  llmTracingProjectHeader: string | null;
  /** Attributes of the resource of the platform's own spans, in the place of the default ones. */
  resourceAttributes: Readonly<Record<string, string>>;
  /** Null: people sign in with API keys only. */
  oidc: OidcConfig | null;
}

/** Reads the configuration from environment variables. Throws ConfigError with all mistakes at once. */
export const readConfig = (env: Record<string, string | undefined>): Config => {
  // An empty variable counts as not set.
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const) {
    const value = proxyVariable(env, name);
    if (value !== undefined) given[name] = value;
  }
  const parsed = environment.safeParse(given);
  const mistakes = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  if (given.DATABASE_URL && !given.ENCRYPTION_KEY) {
    mistakes.push(
      'ENCRYPTION_KEY: is required with DATABASE_URL, the same on every replica (`openssl rand -base64 32`)',
    );
  }
  if (given.DATABASE_LISTEN_URL && !given.DATABASE_URL) {
    mistakes.push('DATABASE_LISTEN_URL: needs DATABASE_URL, of the same database');
  }
  if (!given.TELEMETRY_LOG_URL && given.ROLES && !list(given.ROLES).includes('delivery')) {
    mistakes.push(
      'ROLES: without TELEMETRY_LOG_URL each replica delivers its own telemetry log, so the list must contain delivery',
    );
  }
  // Port 0 is another free port each time.
  if (Number(given.MANAGEMENT_PORT) > 0 && Number(given.MANAGEMENT_PORT) === Number(given.PORT ?? 8080)) {
    mistakes.push('MANAGEMENT_PORT: must be another port than PORT');
  }
  mistakes.push(...oidcMistakes(given));
  if (!parsed.success || mistakes.length > 0) throw new ConfigError(mistakes);
  const e = parsed.data;
  return {
    port: e.PORT,
    managementPort: e.MANAGEMENT_PORT ?? null,
    host: e.HOST,
    dataDir: e.DATA_DIR,
    databaseUrl: e.DATABASE_URL ?? null,
    databaseListenUrl: e.DATABASE_LISTEN_URL ?? null,
    telemetryLog: e.TELEMETRY_LOG_URL ?? null,
    bootstrapKey: e.BOOTSTRAP_ADMIN_API_KEY ?? null,
    encryptionKeys: e.ENCRYPTION_KEY ?? null,
    sqliteDir: e.SQLITE_DIR ?? join(e.DATA_DIR, 'databases'),
    publicUrl: e.PUBLIC_URL ?? null,
    roles: new Set(e.ROLES),
    urlPlaceholders: new Map(e.URL_PLACEHOLDERS.map((name) => [name, env[name]])),
    egress: {
      deny: e.EGRESS_DENY ?? null,
      allow: e.EGRESS_ALLOW ?? [],
      membersAllow: e.EGRESS_MEMBERS_ALLOW ?? [],
    },
    proxies:
      e.HTTP_PROXY || e.HTTPS_PROXY
        ? { http: e.HTTP_PROXY ?? null, https: e.HTTPS_PROXY ?? null, none: parseNoProxy(e.NO_PROXY ?? '') }
        : undefined,
    allowStdioToolServers: e.ALLOW_STDIO_TOOL_SERVERS,
    path: env.PATH ?? '',
    trustProxy: e.TRUST_PROXY ?? [],
    logLevel: e.LOG_LEVEL,
    heartbeat: e.HEARTBEAT_URL === undefined ? null : { url: e.HEARTBEAT_URL, seconds: e.HEARTBEAT_SECONDS },
    auditToLog: e.AUDIT_TO_LOG,
    llmTracingProjectHeader: e.LLM_TRACING_PROJECT_HEADER ?? null,
    resourceAttributes: {
      ...e.OTEL_RESOURCE_ATTRIBUTES,
      ...(e.OTEL_SERVICE_NAME === undefined ? {} : { 'service.name': e.OTEL_SERVICE_NAME }),
    },
    oidc: readOidc(e),
  };
};
