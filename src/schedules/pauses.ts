import { zoneRulesVersion } from '@agent-platform/cron';
import { audit } from '../audit/index.ts';
import { databaseNow, type Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import { recordDefinitionVersions } from './definition-store.ts';
import { insertOccurrences } from './occurrence-store.ts';
import { lockSchedule, nextAfter, occurrencesOf, skipDue } from './schedules.ts';
import {
  deleteScheduleRows,
  notifyNextRun,
  type ScheduleRow,
  type ScheduleTimes,
  updatePausedRows,
  updateResumedRows,
} from './store.ts';

/** Pausing, resuming and deleting, of one schedule or of many in a few statements. */

/** Pauses schedules that are locked and enabled, and records what is due of them as skipped. The caller audits it. */
export const pauseSchedules = async (
  tx: Tx,
  { principal }: Actor,
  schedules: readonly ScheduleTimes[],
  reason: string | null,
): Promise<void> => {
  const now = await databaseNow(tx);
  const skipped = schedules.map((row) => ({ id: row.id, ...skipDue(row, now, 'paused') }));
  await insertOccurrences(
    tx,
    skipped.flatMap(({ row }) => row ?? []),
  );
  await updatePausedRows(
    tx,
    skipped.map(({ id, last, row }) => ({ id, last, skips: row !== null })),
  );
  const ids = schedules.map(({ id }) => id);
  await recordDefinitionVersions(tx, ids, now, { action: 'pause', principal, reason, changed: null });
};

/**
 * Resumes schedules that are locked and paused, with the next occurrence strictly after now, even if the last one that
 * was dealt with is later: after a clock that was wrong by years this brings a schedule back to the present. What was
 * skipped under that clock may then fire after all, as one Work Item; what fired does not fire again. Throws 400 if one
 * has a definition that is refused now. The caller audits it.
 */
export const resumeSchedules = async (
  tx: Tx,
  { principal }: Actor,
  schedules: readonly ScheduleTimes[],
  reason: string | null,
): Promise<void> => {
  const now = await databaseNow(tx);
  const resumed = schedules.map(({ id, cron_expression, timezone }) => ({
    id,
    next: nextAfter(occurrencesOf(cron_expression, timezone), now),
  }));
  await updateResumedRows(tx, resumed, zoneRulesVersion);
  const ids = schedules.map(({ id }) => id);
  await recordDefinitionVersions(tx, ids, now, { action: 'resume', principal, reason, changed: null });
  await notifyNextRun(
    tx,
    resumed.map(({ next }) => next),
  );
};

/** Pauses the schedule, which is locked. If it is paused nothing changes. */
export const pauseSchedule = async (
  tx: Tx,
  actor: Actor,
  before: ScheduleRow,
  reason: string | undefined,
): Promise<ScheduleRow> => {
  if (!before.enabled) return before;
  await pauseSchedules(tx, actor, [before], reason ?? null);
  await audit(tx, actor, 'schedule.pause', before.id, reason === undefined ? {} : { reason });
  return lockSchedule(tx, before.id);
};

/** Resumes the schedule, which is locked. If it is not paused nothing changes. */
export const resumeSchedule = async (tx: Tx, actor: Actor, before: ScheduleRow): Promise<ScheduleRow> => {
  if (before.enabled) return before;
  await resumeSchedules(tx, actor, [before], null);
  await audit(tx, actor, 'schedule.resume', before.id);
  return lockSchedule(tx, before.id);
};

/** Deletes the schedule, which is locked. */
export const deleteSchedule = async (tx: Tx, actor: Actor, row: ScheduleRow): Promise<void> => {
  await deleteScheduleRows(tx, [row.id]);
  const { agent_id, cron_expression, timezone } = row;
  await audit(tx, actor, 'schedule.delete', row.id, { agent_id, cron_expression, timezone });
};
