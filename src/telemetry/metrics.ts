import { countNames } from '@agent-platform/otlp/log';
import { counter, gauge, type Metric } from '../lib/metrics.ts';
import type { Health } from './reports/health.ts';
import type { TelemetryPath } from './telemetry-path.ts';

const states = [...countNames, 'queued'] as const;

/** `idOf`: the id of the integration with this number, also of a deleted one. */
export const telemetryMetrics = (path: TelemetryPath, idOf: (number: number) => string): Metric[] => {
  const ofIntegrations = (name: string, help: string, measure: (health: Health) => number) =>
    gauge(name, help, ['integration'], async (metric) => {
      metric.reset();
      for (const { number, removed } of path.integrations()) {
        const health = removed ? undefined : await path.ownHealth(number);
        if (health) metric.set({ integration: idOf(number) }, measure(health));
      }
    });
  return [
    // A gauge: dead letters leave by a retry, and an integration that another replica takes over leaves as a whole.
    gauge(
      'agent_platform_integration_spans',
      'Spans routed to an integration, by where they are; they sum to what was accepted for it',
      ['integration', 'state'],
      (metric) => {
        metric.reset();
        for (const { number, own, counters } of path.integrations()) {
          if (!own) continue;
          for (const state of states) metric.set({ integration: idOf(number), state }, counters[state]);
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
      'agent_platform_telemetry_log_copies',
      'Copies of the shared telemetry log: how many it should have, and how many have all of it; NaN: no one says',
      ['state'],
      async (metric) => {
        metric.reset();
        const copies = await path.copies();
        if (copies === undefined) return;
        metric.set({ state: 'configured' }, copies?.configured ?? Number.NaN);
        metric.set({ state: 'current' }, copies?.current ?? Number.NaN);
      },
    ),
    counter(
      'agent_platform_telemetry_spans_total',
      'Spans that this replica received, by whether they were accepted',
      ['outcome'],
      (metric) => {
        const { accepted, refused } = path.receiver.counts();
        metric.reset();
        metric.inc({ outcome: 'accepted' }, accepted);
        metric.inc({ outcome: 'refused' }, refused);
      },
    ),
  ];
};
