import { join } from 'node:path';

import { ConfigError } from './config.ts';
import type { Feature, Services } from './feature.ts';
import { messageOf } from './lib/errors.ts';
import { gauge } from './lib/metrics.ts';
import { patienceMs, patiently } from './lib/patience.ts';
import { databaseAccounts } from './observability/accounts.ts';
import type { ObservabilityDestinations } from './observability/index.ts';
import {
  type Health,
  type Telemetry as OpenTelemetry,
  openSharedLog,
  createTelemetry as openTelemetry,
  TelemetryLogRefusal,
  type Tracing,
} from './telemetry/index.ts';
import { telemetryRoute } from './telemetry/receiver/route.ts';

export interface Telemetry
  extends Feature,
    Pick<
      OpenTelemetry,
      'deadLetters' | 'replicaId' | 'health' | 'resume' | 'accounts' | 'wake' | 'flush' | 'receiver'
    > {
  tracing: Tracing;
}

export const createTelemetry = (
  services: Services,
  { destinations }: { destinations: ObservabilityDestinations },
): Telemetry => {
  const { config, db, log, egress, clock, settings } = services;
  let telemetry!: OpenTelemetry;
  const tracing: Tracing = {
    withSpan: (name, options, fn) => telemetry.tracing.withSpan(name, options, fn),
    ended: (...all) => telemetry.tracing.ended(...all),
    traceId: () => telemetry.tracing.traceId(),
    traceparent: () => telemetry.tracing.traceparent(),
  };
  const openLog = async () => {
    const address = config.telemetryLog;
    if (!address) return null;
    return patiently(
      () => openSharedLog({ address, db, log, exists: (number) => destinations.exists(number) }),
      {
        log,
        waitsFor: 'the telemetry log',
        isFinal: (error) => error instanceof TelemetryLogRefusal,
      },
    ).catch((error) => {
      throw new ConfigError([
        `TELEMETRY_LOG_URL: ${error instanceof TelemetryLogRefusal ? error.message : `no answer within ${patienceMs / 1000} s: ${messageOf(error)}`}`,
      ]);
    });
  };
  const ofIntegrations = (name: string, help: string, measure: (health: Health) => number) =>
    gauge(name, help, ['integration'], async (g) => {
      g.reset();
      for (const { number, removed } of telemetry.accounts()) {
        const health = removed ? undefined : await telemetry.ownHealth(number);
        if (health) g.set({ integration: destinations.idOf(number) }, measure(health));
      }
    });
  const spans = ['delivered', 'rejected', 'dead_lettered', 'expired', 'discarded', 'queued'] as const;
  return {
    tag: {
      name: 'Telemetry',
      description: 'Traces of any OpenTelemetry SDK, taken in and passed on to the integrations.',
    },
    rawRoutes: [telemetryRoute(() => telemetry.receiver)],
    metrics: [
      gauge(
        'agent_platform_integration_spans',
        'Spans routed to an integration, by where they are; they sum to what was accepted for it',
        ['integration', 'state'],
        (g) => {
          g.reset();
          for (const { number, own, totals } of telemetry.accounts()) {
            if (!own) continue;
            for (const state of spans)
              g.set({ integration: destinations.idOf(number), state }, totals[state]);
          }
        },
      ),
      ofIntegrations(
        'agent_platform_integration_paused',
        '1 while the delivery to an integration is paused and holds its spans',
        (health) => (health.state === 'paused' ? 1 : 0),
      ),
      ofIntegrations(
        'agent_platform_integration_backlog_age_seconds',
        'Age of the oldest span that an integration has not been given yet',
        (health) => health.backlog_age_seconds,
      ),
      gauge(
        'agent_platform_telemetry_spans',
        'Spans that this replica received, by whether they were accepted',
        ['outcome'],
        (g) => {
          const counts = telemetry.receiver.counts();
          g.set({ outcome: 'accepted' }, counts.accepted);
          g.set({ outcome: 'refused' }, counts.refused);
        },
      ),
    ],
    start: async () => {
      const sharedLog = await openLog();
      telemetry = await openTelemetry({
        directory: join(config.dataDir, 'telemetry'),
        ...(sharedLog ? { shared: sharedLog } : {}),
        destinations,
        sharedAccounts: databaseAccounts(db),
        egress,
        log,
        clock,
        settings: {
          retentionHours: () => settings.get().TELEMETRY_RETENTION_HOURS,
          retentionMegabytes: () => settings.get().TELEMETRY_RETENTION_MB,
        },
      });
      settings.onChange(() => telemetry.wake());
    },
    loops: [{ role: 'delivery', start: () => telemetry.start(), stop: async () => {} }],
    stop: () => telemetry?.stop(),
    tracing,
    get replicaId() {
      return telemetry.replicaId;
    },
    get deadLetters() {
      return telemetry.deadLetters;
    },
    get receiver() {
      return telemetry.receiver;
    },
    health: (number) => telemetry.health(number),
    resume: (number) => telemetry.resume(number),
    accounts: () => telemetry.accounts(),
    wake: () => telemetry.wake(),
    flush: () => telemetry.flush(),
  };
};
