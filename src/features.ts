import { type Access, createAccess } from './access/index.ts';
import { createAgents } from './agents/index.ts';
import { createAudit } from './audit/index.ts';
import { createBranding } from './branding/index.ts';
import type { Feature, Services } from './feature.ts';
import { createLlmConfigurations } from './llm-configurations/index.ts';
import { createDestinations, createObservability } from './observability/index.ts';
import { createProbe, createRuntime } from './runtime/index.ts';
import { createSchedules, type Schedules } from './schedules/index.ts';
import type { SettingsFeature } from './settings/index.ts';
import { createTelemetry, type Telemetry, type Tracing } from './telemetry/index.ts';
import { cancelOpenWorkItems, createWorkItems, wakeWorkers } from './work-items/index.ts';

export interface Features extends Pick<Access, 'authenticate' | 'createFirstKey'> {
  /** In the order in which they start, and in which the documents show them. */
  list: readonly Feature[];
  tracing: Tracing;
  /** For tests that move a clock. */
  telemetry: Telemetry;
  schedules: Schedules;
}

/** The features of the platform and what each needs of the others: the one visible list. */
export const createFeatures = (services: Services & { settings: SettingsFeature }): Features => {
  const access = createAccess(services);
  const audit = createAudit(services);
  const branding = createBranding(services);

  const destinations = createDestinations(services);
  const telemetry = createTelemetry(services, { destinations });
  const observability = createObservability(services, { destinations, telemetry });

  const agents = createAgents(services, { onDelete: cancelOpenWorkItems, onSettings: wakeWorkers });
  const workItems = createWorkItems(services, { traceLinks: observability.traceLinks });
  const schedules = createSchedules(services, { tracing: telemetry.tracing });
  const llms = createLlmConfigurations(services, { probe: createProbe(services) });
  const runtime = createRuntime(services, { llms, telemetry });

  return {
    list: [
      agents,
      schedules,
      workItems,
      destinations,
      telemetry,
      observability,
      llms,
      runtime,
      access,
      services.settings,
      branding,
      audit,
    ],
    authenticate: access.authenticate,
    createFirstKey: access.createFirstKey,
    tracing: telemetry.tracing,
    telemetry,
    schedules,
  };
};
