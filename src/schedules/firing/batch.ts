import { zoneRulesVersion } from '@agent-platform/cron';
import { notify, type Tx } from '../../database/index.ts';
import type { Settings } from '../../settings/index.ts';
import { workItemCalls, workItemsChannel } from '../../work-items/index.ts';
import { insertOccurrences, type OccurrenceRow } from '../occurrence-store.ts';
import { RowsNotMoved } from './faults.ts';
import { type DueRow, type FiringPlan, planFiring, type Skip } from './plan.ts';
import { advance } from './store.ts';

/** A row of what happened to occurrences, reported after its commit. */
export interface FiringReport {
  outcome: OccurrenceRow['outcome'];
  count: number;
  latenessMs: number;
  reason: string | null;
}

/** Result of a batch, or of a part of one. */
export interface Fired {
  /** Schedules that advanced to their next occurrence. */
  moved: number;
  reports: FiringReport[];
}

const skippedRow = (
  scheduleId: string,
  { id, from, count, reason, running }: Skip,
  now: number,
): OccurrenceRow => ({
  id,
  schedule_id: scheduleId,
  scheduled_for: new Date(from),
  outcome: 'skipped',
  work_item_id: null,
  at: new Date(now),
  count,
  // A message of the database or of a zone's name may be long.
  reason: reason.slice(0, 500),
  running_work_item_id: running ?? null,
});

const reportsOf = (
  plans: readonly FiringPlan[],
  now: number,
  made: ReadonlySet<string> | null,
): FiringReport[] => {
  const reports: FiringReport[] = [];
  for (const { fire, skips } of plans) {
    for (const { from, count, reason } of skips) {
      reports.push({ outcome: 'skipped', count, latenessMs: now - from, reason });
    }
    // An occurrence that already had its Work Item was reported when that was made.
    if (fire && (made === null || made.has(fire.workItemId))) {
      reports.push({ outcome: fire.outcome, count: 1, latenessMs: now - fire.at, reason: null });
    }
  }
  return reports;
};

/**
 * Fires claimed schedules in the one transaction of the claim: one statement advances them, inserts the Work Items and
 * records them. Each guard alone prevents two Work Items for one occurrence: the row lock of the claim, the
 * compare-and-set of the advance, and the unique (schedule_id, occurrence) of the Work Items. With an `obstacle`
 * nothing becomes a Work Item: the occurrences that would fire are recorded as skipped for that reason.
 */
export const fireClaimed = async (
  tx: Tx,
  { SCHEDULE_MISFIRE_GRACE_SECONDS: grace }: Settings,
  rows: readonly DueRow[],
  obstacle: string | null = null,
): Promise<Fired> => {
  if (rows.length === 0) return { moved: 0, reports: [] };
  const { now } = rows[0]!;
  const plans = rows.map((row) => planFiring(row, grace * 1_000, obstacle));
  await workItemCalls.cancelRunning(
    tx,
    plans.flatMap(({ id, cancels }) => (cancels ? [id] : [])),
  );
  const { moved, made } = await advance(tx, plans, now, zoneRulesVersion);
  if (moved !== rows.length)
    throw new RowsNotMoved(`${rows.length - moved} claimed schedules did not advance`);
  const reports = reportsOf(plans, now, made && new Set(made));
  await insertOccurrences(
    tx,
    plans.flatMap(({ id, skips }) => skips.map((skip) => skippedRow(id, skip, now))),
  );
  if (reports.some(({ outcome }) => outcome !== 'skipped')) await notify(tx, workItemsChannel);
  return { moved, reports };
};
