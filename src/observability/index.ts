import type { Executor } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Health } from '../telemetry/index.ts';
import { appRoutes } from './app-routes.ts';
import { testConnection } from './connection-test.ts';
import {
  type DeadLetterTelemetry,
  deadLetterChannel,
  deadLetterListener,
  deadLetterRoutes,
} from './dead-letter-routes.ts';
import { IntegrationDestinations } from './destinations.ts';
import { createIntegrations } from './integrations.ts';
import { integrationRoutes } from './routes.ts';
import { scopeRoutes } from './scope-routes.ts';
import type { ProviderSettings } from './settings.ts';
import { reserveNumbersAbove } from './store.ts';
import { testedChannel, testRoutes } from './test-routes.ts';
import { type TraceLink, traceLinks } from './trace-links.ts';

export type { IntegrationDestinations };

const requestsOf = ({ config }: Services) => ({
  placeholders: config.urlPlaceholders,
  projectHeader: config.llmTracingProjectHeader,
});

/** The destinations of telemetry. Telemetry needs them, and the API of the integrations needs telemetry. */
export const createDestinations = (services: Services): IntegrationDestinations => {
  const { db, log } = services;
  const integrations = createIntegrations(services);
  return new IntegrationDestinations({ db, log, integrations, requests: requestsOf(services) });
};

/** What the API of integrations needs of telemetry. */
export interface ObservabilityTelemetry extends DeadLetterTelemetry {
  health(number: number): Promise<Health | undefined>;
  /** A test of the integration succeeded: a paused delivery resumes at once. */
  resume(number: number): void;
  /** Every integration that the telemetry log knows. */
  integrations(): readonly { number: number }[];
}

export interface Observability extends Feature {
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
  const parts = { db, integrations, changed: () => destinations.refresh() };
  const tested = {
    ...parts,
    test: (settings: ProviderSettings) => testConnection(egress, settings, requests),
    healthOf: (number: number) => telemetry.health(number),
  };
  return {
    tag: {
      name: 'Observability',
      description: 'Integrations: the tracing backends to which traces are sent, and for which agents.',
    },
    routes: [
      ...integrationRoutes(parts),
      ...scopeRoutes(parts),
      ...testRoutes(tested),
      ...appRoutes(tested),
      ...deadLetterRoutes({ ...parts, telemetry }),
    ],
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
