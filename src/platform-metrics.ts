import type { Database } from './database/index.ts';
import { counter, createMetrics, gauge, histogram } from './lib/metrics.ts';
import { countOverdue, type FiringReport } from './schedules/index.ts';
import type { Health, Telemetry } from './telemetry/index.ts';

/** What `/metrics` tells beside the process's own figures. docs/operations.md lists the names and their alerts. */
export interface PlatformMetrics {
  answered(request: { operation: string; method: string; status: number; seconds: number }): void;
  fired(reports: FiringReport[]): void;
  workItemFinished(status: string): void;
  read(): Promise<{ contentType: string; text: string }>;
}

const latenessBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600];

export const createPlatformMetrics = (parts: {
  db: Database;
  telemetry: () => Telemetry;
  /** The id of the integration with this number, also of a deleted one. */
  integrationId: (number: number) => string;
}): PlatformMetrics => {
  const registry = createMetrics();
  const requests = histogram(
    registry,
    'agent_platform_http_request_duration_seconds',
    'Duration of API requests',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    ['operation', 'method', 'status'],
  );
  const occurrences = counter(
    registry,
    'agent_platform_occurrences_total',
    'Occurrences by what happened to them',
    ['outcome', 'reason'],
  );
  const lateness = histogram(
    registry,
    'agent_platform_occurrence_lateness_seconds',
    'How late occurrences became Work Items, after their nominal time',
    latenessBuckets,
  );
  const finished = counter(
    registry,
    'agent_platform_work_items_finished_total',
    'Runs of Work Items that ended on this replica, by the status that they left the Work Item in',
    ['status'],
  );
  // A series that appears with 1 shows no increase to an alert: those that are watched begin at 0.
  for (const reason of ['missed', 'cannot fire']) occurrences.inc({ outcome: 'skipped', reason }, 0);
  for (const status of ['COMPLETED', 'NEEDS_REVIEW', 'INDETERMINATE', 'ERROR', 'CANCELLED']) {
    finished.inc({ status }, 0);
  }
  gauge(
    registry,
    'agent_platform_schedules_overdue',
    'Schedules that are due for more than 5 s and not fired',
    [],
    async (g) => {
      // While the database is away nobody knows; the other figures are wanted all the more.
      g.set(await parts.db.run(countOverdue).catch(() => Number.NaN));
    },
  );
  const spans = ['delivered', 'rejected', 'dead_lettered', 'expired', 'discarded', 'queued'] as const;
  gauge(
    registry,
    'agent_platform_integration_spans',
    'Spans routed to an integration, by where they are; they sum to what was accepted for it',
    ['integration', 'state'],
    (g) => {
      g.reset();
      for (const { number, own, totals } of parts.telemetry().accounts()) {
        if (!own) continue;
        for (const state of spans) g.set({ integration: parts.integrationId(number), state }, totals[state]);
      }
    },
  );
  const ofIntegrations = (name: string, help: string, measure: (health: Health) => number) =>
    gauge(registry, name, help, ['integration'], async (g) => {
      g.reset();
      for (const { number, removed } of parts.telemetry().accounts()) {
        const health = removed ? undefined : await parts.telemetry().ownHealth(number);
        if (health) g.set({ integration: parts.integrationId(number) }, measure(health));
      }
    });
  ofIntegrations(
    'agent_platform_integration_paused',
    '1 while the delivery to an integration is paused and holds its spans',
    (health) => (health.state === 'paused' ? 1 : 0),
  );
  ofIntegrations(
    'agent_platform_integration_backlog_age_seconds',
    'Age of the oldest span that an integration has not been given yet',
    (health) => health.backlog_age_seconds,
  );
  gauge(
    registry,
    'agent_platform_telemetry_spans',
    'Spans that this replica received, by whether they were accepted',
    ['outcome'],
    (g) => {
      const counts = parts.telemetry().receiver.counts();
      g.set({ outcome: 'accepted' }, counts.accepted);
      g.set({ outcome: 'refused' }, counts.refused);
    },
  );
  return {
    answered: ({ operation, method, status, seconds }) =>
      requests.observe({ operation, method, status }, seconds),
    fired: (reports) => {
      for (const { outcome, count, latenessMs, reason } of reports) {
        // A poison's reason is free text: one label for all of them.
        const label = reason === null || reason === 'missed' ? (reason ?? '') : 'cannot fire';
        occurrences.inc({ outcome, reason: label }, count);
        if (outcome !== 'skipped') lateness.observe(latenessMs / 1000);
      }
    },
    workItemFinished: (status) => finished.inc({ status }),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};
