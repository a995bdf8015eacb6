import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/index.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { newId } from '../../src/lib/ids.ts';
import {
  createDestinations,
  createObservability,
  type IntegrationDestinations,
  type Observability,
} from '../../src/observability/index.ts';
import type { Health } from '../../src/telemetry/index.ts';
import { type ServedRoutes, serveRoutes } from '../harness/api.ts';
import { openMigrated } from '../harness/database.ts';
import type { Client } from '../harness/http.ts';
import { testServices } from '../harness/services.ts';
import { makeAgent } from '../harness/work-items.ts';

type Replica = Observability & { destinations: IntegrationDestinations };

/** The API of integrations on a database of its own, with a telemetry that only reports what the test sets. */
export interface IntegrationsFixture extends Pick<ServedRoutes, 'as' | 'withoutKey' | 'origin' | 'document'> {
  db: Database;
  /** As an admin called `admin`. */
  admin: Client;
  observability: Replica;
  /** A second replica on the same database. */
  other: Replica;
  /** Creates a Worker agent and returns its id. */
  agent(): Promise<string>;
  /** The numbers of the integrations whose delivery was resumed. */
  resumed: number[];
  healthOf: Map<number, Health>;
  close(): Promise<void>;
}

export const placeholders = new Map<string, string | undefined>([
  ['REGION', 'eu-1'],
  ['COLLECTOR', 'https://collector.example.com'],
  ['WITH_CREDENTIALS', 'https://user:hunter2@collector.example.com'],
  ['UNSET', undefined],
]);

export const startIntegrations = async (kind: Database['kind']): Promise<IntegrationsFixture> => {
  const db = await openMigrated(kind);
  const egress = createEgress({});
  const config = { ...readConfig({}), urlPlaceholders: placeholders };
  const services = testServices(db, { egress, config });
  const resumed: number[] = [];
  const healthOf = new Map<number, Health>();
  const startReplica = async (): Promise<Replica> => {
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
  const observability = await startReplica();
  const other = await startReplica();
  const { as, withoutKey, origin, document, close } = await serveRoutes(db, observability);
  return {
    db,
    as,
    admin: as('admin', 'admin'),
    withoutKey,
    origin,
    document,
    observability,
    other,
    agent: () => makeAgent(db),
    resumed,
    healthOf,
    close: async () => {
      await close();
      await Promise.all([observability.destinations.stop(), other.destinations.stop()]);
      await egress.close();
      await db[Symbol.asyncDispose]();
    },
  };
};

/**
 * Valid settings of each provider. Each credential is a word of its own, so that a test finds it where it must not be.
 */
export const examples = {
  hosted_dashboard: {
    provider: 'hosted_dashboard',
    url: 'https://otlp-gateway-prod-eu-west-0.example.net/otlp/v1/traces',
    api_token: 'secret-api-token',
    dashboard_instance_id: '123456',
    additional_headers: { 'X-Scope': 'secret-header-value' },
    stack_name: 'acme',
    data_source: 'tempo-1',
    resource_attributes: { 'deployment.environment': 'staging' },
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
    additional_headers: { 'X-Version': '4' },
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
