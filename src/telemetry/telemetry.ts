import { join } from 'node:path';
import { openSharedLog } from '@agent-platform/otlp/jetstream';
import { openFileLog, type TelemetryLog, TelemetryLogRefusal } from '@agent-platform/otlp/log';
import type { Feature, Services } from '../feature.ts';
import { ConfigError } from '../lib/config-error.ts';
import { messageOf } from '../lib/errors.ts';
import { retryForMs, retryUntilReady } from '../lib/retry-until-ready.ts';
import { AgentSpans } from './agent-spans.ts';
import { telemetryMetrics } from './metrics.ts';
import { telemetryRoute } from './receiver/route.ts';
import { ReportStore } from './reports/report-store.ts';
import { deleteOldSamples, samplingLoop } from './reports/samples.ts';
import type { Destinations, IntegrationDirectory, SpanSink } from './routing.ts';
import type { Tracing } from './spans.ts';
import { streamStore } from './stream-store/store.ts';
import { TelemetryPath } from './telemetry-path.ts';

/** Traces: taken in over OTLP and from the platform itself, kept until every integration has them, delivered. */
export interface Telemetry extends Feature {
  tracing: Tracing;
  path: TelemetryPath;
}

interface TelemetryNeeds {
  destinations: Destinations & IntegrationDirectory;
  sink: SpanSink;
}

/** The log that all replicas share, if one is configured; else the one of this replica's data folder. */
const openLog = async (
  { config, db, log, clock }: Services,
  exists: IntegrationDirectory['exists'],
): Promise<TelemetryLog> => {
  const { telemetryLog: address } = config;
  if (address === null) {
    return openFileLog({ directory: join(config.dataDir, 'telemetry'), now: () => clock.now() });
  }
  const isPermanent = (error: unknown) => error instanceof TelemetryLogRefusal;
  return retryUntilReady(() => openSharedLog({ address, openStore: streamStore(db), log, exists }), {
    log,
    waitsFor: 'the telemetry log',
    isPermanent,
  }).catch((error) => {
    const why = isPermanent(error)
      ? messageOf(error)
      : `no response within ${retryForMs / 1000} s: ${messageOf(error)}`;
    throw new ConfigError([`TELEMETRY_LOG_URL: ${why}`]);
  });
};

export const createTelemetry = (services: Services, { destinations, sink }: TelemetryNeeds): Telemetry => {
  const { config, db, settings, egress, log, clock } = services;
  const agentSpans = new AgentSpans(services);
  const path = new TelemetryPath({
    openLog: () => openLog(services, (number) => destinations.exists(number)),
    destinations,
    sink,
    reports: new ReportStore(db),
    onAccepted: (agents) => agentSpans.seen(agents),
    resource: config.resourceAttributes,
    egress,
    log,
    clock,
    retention: () => {
      const { TELEMETRY_RETENTION_HOURS, TELEMETRY_RETENTION_MB } = settings.get();
      return {
        milliseconds: TELEMETRY_RETENTION_HOURS * 3_600_000,
        bytes: TELEMETRY_RETENTION_MB * 1024 * 1024,
      };
    },
  });
  const samples = samplingLoop(services);
  return {
    tag: {
      name: 'Telemetry',
      description: 'Traces of any OpenTelemetry SDK, taken in and passed on to the integrations.',
    },
    rawRoutes: [telemetryRoute(path.receiver)],
    metrics: telemetryMetrics(path, (number) => destinations.idOf(number)),
    start: async () => {
      await path.open();
      settings.onChange(() => path.wake());
    },
    // Delivery continues while the other loops end, which still trace, and stops when the path is closed.
    loops: [
      { role: 'delivery', start: () => path.startDelivery(), stop: async () => {} },
      {
        role: 'delivery',
        start: () => void samples.start(),
        stop: () => samples.stop(),
        pass: () => samples.pass(),
      },
      {
        role: 'api',
        start: () => agentSpans.start(),
        stop: () => agentSpans.stop(),
        pass: () => agentSpans.pass(),
      },
    ],
    retention: [deleteOldSamples],
    stop: () => path.close(),
    tracing: path.tracing,
    path,
  };
};
