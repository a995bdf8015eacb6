import { sql } from 'kysely';
import { readConfig } from '../../src/config.ts';
import { type Database, migrate, openEmbedded, openPostgres } from '../../src/database/index.ts';
import { createServer, TokenBuckets } from '../../src/http/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Role } from '../../src/lib/principal.ts';
import {
  createDestinations,
  createObservability,
  type Observability,
  type ObservabilityDestinations,
} from '../../src/observability/index.ts';
import type { Health } from '../../src/telemetry/index.ts';
import { type Client, client } from '../harness/http.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { testServices } from '../harness/services.ts';

export interface Fixture {
  db: Database;
  /** As an admin called `admin`, below /api/v2. */
  admin: Client;
  /** As somebody with any name and role. */
  as: (name: string, role: Role) => Client;
  /** Without a key. */
  nobody: Client;
  baseUrl: string;
  observability: Observability & { destinations: ObservabilityDestinations };
  /** A second replica's, over the same database. */
  other: Observability & { destinations: ObservabilityDestinations };
  /** A new Worker agent's id. */
  agent: () => Promise<string>;
  /** What delivery was told to resume. */
  resumed: number[];
  healthOf: Map<number, Health>;
  /** The document of /api/v2. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
  document: any;
  close: () => Promise<void>;
}

export const placeholders = new Map<string, string | undefined>([
  ['REGION', 'eu-1'],
  ['COLLECTOR', 'https://collector.example.com'],
  ['WITH_CREDENTIALS', 'https://user:hunter2@collector.example.com'],
  ['UNSET', undefined],
]);

/**
 * The observability endpoints behind a real server, over a real database. A key is `name:role`. Listens to
 * notifications of a second replica too.
 */
export const startFixture = async (postgresUrl: string | null): Promise<Fixture> => {
  const log = createLogger('silent');
  const url = postgresUrl === null ? null : await createDatabase(postgresUrl);
  const db = url === null ? await openEmbedded(null, log) : await openPostgres(url, log);
  await migrate(db, log);
  const vault = new Vault([Buffer.alloc(32, 7)]);
  const egress = createEgress({});
  const resumed: number[] = [];
  const healthOf = new Map<number, Health>();
  const services = testServices(db, {
    vault,
    egress,
    config: { ...readConfig({}), urlPlaceholders: placeholders },
  });
  const replica = async () => {
    const destinations = createDestinations(services);
    const observability = createObservability(services, {
      destinations,
      telemetry: {
        replicaId: newId(),
        health: async (number) => healthOf.get(number),
        resume: (number) => void resumed.push(number),
        integrations: () => [],
        get deadLetters(): never {
          throw new Error('there is no telemetry here');
        },
      },
    });
    await destinations.start();
    await observability.start?.();
    return { ...observability, destinations };
  };
  const observability = await replica();
  const other = await replica();
  const server = createServer({
    groups: [observability],
    authenticate: async ({ token }) => {
      const [name, role] = token?.split(':') ?? [];
      if (!name || !role) throw new ApiError('unauthorized', 'An API key is required.');
      return { kind: 'service_account', id: name, name, role: role as Role, keyId: name };
    },
    db,
    vault,
    log,
    publicUrl: () => 'http://127.0.0.1',
    version: '0',
    buckets: new TokenBuckets(systemClock),
    rateLimit: () => ({ perSecond: 0, burst: 1 }),
    readiness: async () => null,
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  });
  const port = await server.listen(0, '127.0.0.1');
  const baseUrl = `http://127.0.0.1:${port}/api/v2`;
  return {
    db,
    admin: client(baseUrl, 'admin:admin'),
    as: (name, role) => client(baseUrl, `${name}:${role}`),
    nobody: client(baseUrl),
    baseUrl,
    observability,
    other,
    agent: async () => {
      const id = newId();
      await db.tx((tx) =>
        sql`insert into agents (id, name, mode, max_concurrency, max_attempts, timeout_seconds, max_steps)
          values (${id}, 'agent', 'worker', 1, 1, 60, 5)`.execute(tx),
      );
      return id;
    },
    resumed,
    healthOf,
    document: server.document('/api/v2').value,
    close: async () => {
      await server.close();
      await Promise.all([observability.destinations.stop(), other.destinations.stop()]);
      await egress.close();
      await db.close();
      if (url !== null) await dropDatabase(url);
    },
  };
};

/** Valid settings of each provider, each credential a word of its own that must never be seen where it should not. */
export const examples = {
  hosted_dashboard: {
    provider: 'hosted_dashboard',
    url: 'https://otlp-gateway-prod-eu-west-0.example.net/otlp/v1/traces',
    api_token: 'secret-api-token',
    dashboard_instance_id: '123456',
    additional_headers: { 'X-Scope': 'secret-header-value' },
    stack_name: 'acme',
  },
  llm_tracing: {
    provider: 'llm_tracing',
    url: 'https://traces.example.com/v1/traces',
    project_name: 'shop',
    api_key: 'secret-api-key',
  },
  otlp_basic_auth: {
    provider: 'otlp_basic_auth',
    url: 'https://collector.example.com/v1/traces',
    username: 'alice',
    password: 'secret-password',
    trace_view_url: 'https://ui.example.com/base',
    trace_ui_type: 'span_ui',
  },
  otlp_custom_headers: {
    provider: 'otlp_custom_headers',
    url: 'https://collector.example.com/v1/traces',
    headers: { Authorization: 'Bearer secret-bearer', 'X-Tenant': 'a' },
  },
} as const;

export const integrations = '/observability/integrations';
