import type { Executor, Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Actor } from '../lib/principal.ts';
import { type Health, unusedHealth } from '../telemetry/index.ts';
import { testConnection } from './connection-test.ts';
import {
  type DeadLetterTelemetry,
  deadLetterChannel,
  deadLetterListener,
  deadLetterRoutes,
} from './dead-letter-routes.ts';
import { IntegrationDestinations } from './destinations.ts';
import { type IntegrationParts, testedChannel } from './integration-routes.ts';
import { createIntegrations, type Integrations, type UpdateBody } from './integrations.ts';
import { integrationAttention, readIntegrations } from './overview/attention.ts';
import { deliveredByHour } from './overview/numbers.ts';
import { pageRoutes } from './page-routes.ts';
import { publicRoutes } from './public-routes.ts';
import { setScopes } from './scopes.ts';
import type { Settings } from './settings.ts';
import { type IntegrationRow, listIntegrations, listNamedScopes, reserveNumbersAbove } from './store.ts';
import { type TraceLink, traceLinks } from './trace-links.ts';

export { readIntegrations } from './overview/attention.ts';
export { form as integrationForm } from './schemas.ts';
export type { IntegrationDestinations };

const requestsOf = ({ config }: Services) => ({
  placeholders: config.urlPlaceholders,
  projectHeader: config.llmTracingProjectHeader,
  resource: config.resourceAttributes,
});

/** The destinations of telemetry. Telemetry needs them, and the API of the integrations needs telemetry. */
export const createDestinations = (services: Services): IntegrationDestinations => {
  const { db, log } = services;
  const integrations = createIntegrations(services);
  return new IntegrationDestinations({ db, log, integrations, requests: requestsOf(services) });
};

export interface ObservabilityTelemetry extends DeadLetterTelemetry {
  health(number: number): Promise<Health | undefined>;
  /** A test of the integration succeeded: a paused delivery resumes at once. */
  resume(number: number): void;
  /** Every integration that the telemetry log knows. */
  integrations(): readonly { number: number }[];
}

/** An integration with its credentials, and the agents that it applies to; null: all. */
interface ListedIntegration extends Omit<IntegrationRow, 'settings'> {
  settings: Settings;
  scopes: readonly (string | null)[];
}

export interface Observability extends Feature, Pick<Integrations, 'checkAddress' | 'create'> {
  /** Listing is no read of credentials. */
  list(executor: Executor): Promise<ListedIntegration[]>;
  update(tx: Tx, actor: Actor, id: string, body: UpdateBody): Promise<IntegrationRow>;
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Gives it these scopes and no others; null is the global one. */
  setScopes(tx: Tx, actor: Actor, id: string, agentIds: readonly (string | null)[]): Promise<void>;
  /** Call it after the transaction. Resolves when the changes are in effect on this replica. */
  changed(): Promise<void>;
  overview: {
    read: typeof readIntegrations;
    attention: typeof integrationAttention;
    delivered: typeof deliveredByHour;
  };
  /**
   * Returns links to a trace (32 hex digits) of an agent: one for each enabled integration in scope for the agent that
   * can build one. `agentId` null: the agent was deleted, so only global integrations.
   */
  traceLinks(executor: Executor, agentId: string | null, traceId: string): Promise<TraceLink[]>;
}

/** Observability integrations. */
export const createObservability = (
  services: Services,
  needs: { destinations: IntegrationDestinations; telemetry: ObservabilityTelemetry },
): Observability => {
  const { db, log, egress } = services;
  const { destinations, telemetry } = needs;
  const { integrations } = destinations;
  const requests = requestsOf(services);
  const resumeTested = (number: string | null): void => {
    if (number) telemetry.resume(Number(number));
  };
  const followDeadLetterRequests = deadLetterListener(log, telemetry);
  const parts: IntegrationParts = {
    db,
    integrations,
    changed: () => destinations.refresh(),
    test: (settings) => testConnection(egress, settings, requests),
    health: async ({ number, is_enabled }, reported) => {
      const health = reported ?? (await telemetry.health(number)) ?? unusedHealth;
      return is_enabled ? health : { ...health, state: 'disabled' };
    },
  };
  return {
    tag: {
      name: 'Observability',
      description: 'Integrations: the tracing backends to which traces are sent, and for which agents.',
    },
    routes: [...publicRoutes(parts), ...pageRoutes(parts), ...deadLetterRoutes({ ...parts, telemetry })],
    checkAddress: integrations.checkAddress,
    create: integrations.create,
    list: async (executor) => {
      const rows = await listIntegrations(executor, {}, '');
      const ids = rows.map(({ id }) => id);
      const scopes = Map.groupBy(await listNamedScopes(executor, ids), (scope) => scope.integration_id);
      return rows.map((row) => ({
        ...row,
        settings: { ...integrations.open(row), is_enabled: row.is_enabled },
        scopes: (scopes.get(row.id) ?? []).map(({ agent_id }) => agent_id),
      }));
    },
    update: async (tx, actor, id, body) =>
      integrations.update(tx, actor, await integrations.lock(tx, id), body, { shown: false }),
    delete: async (tx, actor, id) => integrations.delete(tx, actor, await integrations.lock(tx, id)),
    setScopes: async (tx, actor, id, agentIds) => {
      await integrations.lock(tx, id);
      await setScopes(tx, actor, id, agentIds);
    },
    changed: parts.changed,
    overview: { read: readIntegrations, attention: integrationAttention, delivered: deliveredByHour },
    secrets: integrations.secrets,
    start: async () => {
      db.listen(testedChannel, resumeTested);
      db.listen(deadLetterChannel, followDeadLetterRequests);
      // After a restored backup the telemetry log may have numbers that the database would give again.
      const known = Math.max(0, ...telemetry.integrations().map(({ number }) => number));
      if (known > 0) await db.tx((tx) => reserveNumbersAbove(tx, known));
    },
    traceLinks: (executor, agentId, traceId) =>
      traceLinks(
        executor,
        { open: integrations.open, placeholders: requests.placeholders },
        agentId,
        traceId,
      ),
  };
};
