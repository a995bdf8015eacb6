import type { Database } from '../../database/index.ts';
import { counter, gauge, histogram, type Metric } from '../../lib/metrics.ts';
import type { FiringReport } from './batch.ts';
import { countOverdue } from './store.ts';

export interface FiringMetrics {
  list: readonly Metric[];
  /** Counts what happened, after its commit. */
  observe(reports: readonly FiringReport[]): void;
}

export const createFiringMetrics = (db: Database): FiringMetrics => {
  const occurrences = counter('agent_platform_occurrences_total', 'Occurrences by what happened to them', [
    'outcome',
    'reason',
  ]);
  // A series that appears with the value 1 shows no increase to an alert, so those that are watched begin at 0.
  for (const reason of ['missed', 'overlap', 'cannot fire'])
    occurrences.inc({ outcome: 'skipped', reason }, 0);
  const lateness = histogram(
    'agent_platform_occurrence_lateness_seconds',
    'How late occurrences became Work Items, after their nominal time',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600],
  );
  const overdue = gauge(
    'agent_platform_schedules_overdue',
    'Schedules that are due for more than 5 s and not fired',
    [],
    async (g) => {
      // While the database is away the number is unknown, and the other metrics are needed all the more.
      g.set(await db.run(countOverdue).catch(() => Number.NaN));
    },
  );
  return {
    list: [occurrences, lateness, overdue],
    observe: (reports) => {
      for (const { outcome, count, latenessMs, reason } of reports) {
        // The reason of a poison row is free text: all of them share one label.
        const label =
          reason === null || reason === 'missed' || reason === 'overlap' ? (reason ?? '') : 'cannot fire';
        occurrences.inc({ outcome, reason: label }, count);
        if (outcome !== 'skipped') lateness.observe(latenessMs / 1000);
      }
    },
  };
};
