import type { Feature, Services } from '../feature.ts';
import { deleteReplacedVersions } from './definition-store.ts';
import { type BatchAttributes, Firing } from './firing/firing.ts';
import { createFiringMetrics } from './firing/metrics.ts';
import { deleteOldOccurrences } from './occurrence-store.ts';
import { scheduleRoutes } from './routes.ts';

export { compileSchedule, type Occurrences } from './cron/occurrences.ts';
export { describeCron } from './cron/preview.ts';
export { openZone, shownOffset } from './cron/zones.ts';
export { definitionActions, type HistoryRow, listLastPauses } from './definition-store.ts';
export { type LedgerEntry, type LedgerStatus, statusOf, toLedger } from './explain/ledger.ts';
export { reasonsOf } from './explain/reasons.ts';
export { sentence, skipCauseOf, whyOverdue } from './explain/sentences.ts';
export { LocalClock, lengthOf, localDate, localTime } from './explain/times.ts';
export { historyText } from './explain/verdicts.ts';
export { matchesFilter, type ScheduleFilter } from './filter.ts';
export type { OccurrenceRow } from './occurrence-store.ts';
export { occurrencesOfVersion } from './reconciliation.ts';
export { ledgerStatuses, occurrence, scheduleFilter, skipCause } from './schemas.ts';

interface Needs {
  tracing: {
    withSpan<T>(
      name: string,
      options: { application: true },
      fn: (span: { setAttributes(attributes: BatchAttributes): void }) => Promise<T>,
    ): Promise<T>;
  };
}

export interface Schedules extends Feature {
  /** For tests that move the database's clock. */
  firing: Firing;
}

/** Schedules: each occurrence of a cron expression becomes one Work Item. */
export const createSchedules = ({ db, log }: Services, { tracing }: Needs): Schedules => {
  const metrics = createFiringMetrics(db);
  const firing = new Firing({
    db,
    log,
    onFired: metrics.observe,
    span: (name, fn) =>
      tracing.withSpan(name, { application: true }, (span) =>
        fn((attributes) => span.setAttributes(attributes)),
      ),
  });
  return {
    tag: {
      name: 'Schedules',
      description:
        'A schedule creates Work Items for a Worker agent on a cron cadence, exactly one an occurrence.',
    },
    routes: scheduleRoutes(db),
    retention: [
      (tx, settings, limit) => deleteOldOccurrences(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
      (tx, settings, limit) => deleteReplacedVersions(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
    ],
    // Before the loop starts, so that no write is missed between its first look and its first sleep.
    start: async () => firing.listen(),
    loops: [firing],
    metrics: metrics.list,
    firing,
  };
};
