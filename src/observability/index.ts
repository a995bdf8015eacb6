import type { Database, Executor } from '../database/index.ts';
import type { Route } from '../http/index.ts';
import type { SealedColumn, Vault } from '../lib/crypto.ts';
import type { Egress } from '../lib/egress.ts';
import type { Logger } from '../lib/log.ts';
import type { Destinations, Health, SharedAccounts } from '../telemetry/index.ts';
import { databaseAccounts } from './accounts.ts';
import { testConnection } from './connection-test.ts';
import {
  type DeadLetterTelemetry,
  deadLetterRoutes,
  followDeadLetterRequests,
} from './dead-letter-routes.ts';
import { IntegrationDestinations } from './destinations.ts';
import { createIntegrations } from './integrations.ts';
import { integrationRoutes } from './routes.ts';
import { scopeRoutes } from './scope-routes.ts';
import { boundTo, numberExists, reserveNumbersAbove } from './store.ts';
import { testedChannel, testRoutes } from './test-routes.ts';
import { type TraceLink, traceLinks } from './trace-links.ts';
import type { Placeholders } from './urls.ts';

/** What of integrations is encrypted at rest. */
export const integrationSecrets: SealedColumn[] = [
  { table: 'observability_integrations', column: 'settings', boundTo },
];

export interface ObservabilityOptions {
  db: Database;
  vault: Vault;
  egress: Egress;
  log: Logger;
  /** What `${NAME}` in a url may name, with its value (URL_PLACEHOLDERS). */
  placeholders: Placeholders;
  /** The header that carries `project_name` for `llm_tracing`. */
  projectHeader: string;
  /** Telemetry, which is made after this, since it needs the destinations: asked when a request comes. */
  telemetry: {
    health: (number: number) => Promise<Health | undefined>;
    resume: (number: number) => void;
    deadLetters: () => DeadLetterTelemetry;
  };
}

export interface Observability {
  routes: Route[];
  destinations: Destinations;
  /** The id of the integration with this number, also of one that was deleted. */
  idOf(number: number): string;
  /** Through which the replicas' telemetry tells the others its accounts. */
  accounts: SharedAccounts;
  /** Loads the destinations and follows changes from then on. Before telemetry starts. */
  start(): Promise<void>;
  /** Never give a number up to `number` again: the telemetry log knows it, though the database may not (a restored backup). */
  reserveNumbers(number: number): Promise<void>;
  /** Whether there is an integration with this number, in the database: memory may be a second behind. */
  exists(number: number): Promise<boolean>;
  stop(): Promise<void>;
  /**
   * Where a trace (32 hex digits) of an agent can be seen: a link for each enabled integration in scope for the
   * agent that can build one. `agentId` null: the agent is gone, the global ones.
   */
  traceLinks(executor: Executor, agentId: string | null, traceId: string): Promise<TraceLink[]>;
}

/** Observability integrations: their API, and where telemetry goes because of them (product, section 8). */
export const createObservability = (options: ObservabilityOptions): Observability => {
  const { db, vault, egress, log, placeholders, projectHeader, telemetry } = options;
  const requests = { placeholders, projectHeader };
  const integrations = createIntegrations({ db, vault, placeholders, egress });
  const destinations = new IntegrationDestinations({ db, vault, log, requests });
  const accounts = databaseAccounts(db);
  const parts = { db, integrations, changed: () => destinations.refresh() };
  return {
    routes: [
      ...integrationRoutes(parts),
      ...scopeRoutes(parts),
      ...testRoutes({
        db,
        integrations,
        test: (settings) => testConnection(egress, settings, requests),
        healthOf: (number) => telemetry.health(number),
      }),
      ...deadLetterRoutes({ db, integrations, accounts, telemetry: telemetry.deadLetters }),
    ],
    destinations,
    idOf: (number) => destinations.idOf(number),
    accounts,
    start: async () => {
      db.listen(testedChannel, (number) => {
        if (number) telemetry.resume(Number(number));
      });
      followDeadLetterRequests(db, log, telemetry.deadLetters);
      await destinations.start();
    },
    reserveNumbers: (number) => db.tx((tx) => reserveNumbersAbove(tx, number)),
    exists: (number) => db.run((executor) => numberExists(executor, number)),
    stop: () => destinations.stop(),
    traceLinks: (executor, agentId, traceId) =>
      traceLinks(executor, { open: integrations.open, placeholders }, agentId, traceId),
  };
};
