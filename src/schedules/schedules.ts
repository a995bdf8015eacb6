import { type Agent, getAgent, lockAgent, requireWorker } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { type Database, databaseNow, type Tx } from '../database/index.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { CronError } from './cron/cron.ts';
import { compileSchedule, type Occurrences } from './cron/occurrences.ts';
import { ZoneError, zoneRulesVersion } from './cron/zones.ts';
import { recordDefinitionVersion } from './definition-store.ts';
import { insertOccurrences } from './occurrence-store.ts';
import {
  countOfAgent,
  type Definition,
  deleteSchedule,
  findOfAgent,
  insertSchedule,
  lockSchedule,
  notifyNextRun,
  type ScheduleRow,
  updateSchedule,
} from './store.ts';

/** The occurrences of an expression in a zone; 400 for one that is refused (description, 7.3). */
export const occurrencesOf = (expression: string, timezone: string): Occurrences => {
  try {
    return compileSchedule(expression, timezone);
  } catch (error) {
    if (error instanceof CronError) throw badRequest(`cron_expression: ${error.message}`);
    if (error instanceof ZoneError) throw badRequest(`timezone: ${error.message}`);
    throw error;
  }
};

/** As `occurrencesOf`, for a definition that was accepted once; null where the zone has gone since. */
const occurrencesOfStored = (row: ScheduleRow): Occurrences | null => {
  try {
    return compileSchedule(row.cron_expression, row.timezone);
  } catch {
    return null;
  }
};

/** 400 for an agent that is no Worker agent (description, 7.3). */
const checkWorker = (agent: Pick<Agent, 'mode'>): void =>
  requireWorker(agent, 'Schedules can only be created for worker agents.');

/** The agent of a schedule's path, a Worker agent: 404, or 400 for another kind. */
export const findWorker = async (db: Database, agentId: string): Promise<void> => {
  checkWorker(await db.run((executor) => getAgent(executor, agentId)));
};

/** The schedule that a path names, of a Worker agent: 404 of the agent, 400 for its kind, 404 of the schedule. */
export const findSchedule = async (
  db: Database,
  agentId: string,
  scheduleId: string,
): Promise<ScheduleRow> => {
  if (!isId(agentId)) throw notFound('agent');
  if (!isId(scheduleId)) {
    await findWorker(db, agentId);
    throw notFound('schedule');
  }
  const found = await db.run((executor) => findOfAgent(executor, agentId, scheduleId));
  if (!found) throw notFound('agent');
  checkWorker(found);
  if (!found.schedule) throw notFound('schedule');
  return found.schedule;
};

/** The schedule again, locked, for a change; 404 where it went away meanwhile. */
const locked = async (tx: Tx, id: string): Promise<ScheduleRow> => {
  const row = await lockSchedule(tx, id);
  if (!row) throw notFound('schedule');
  return row;
};

const nextAfter = (occurrences: Occurrences, after: number): Date | null => {
  const next = occurrences.next(after);
  return next === null ? null : new Date(next);
};

export const createSchedule = async (
  tx: Tx,
  agentId: string,
  definition: Definition,
  actor: Actor,
): Promise<ScheduleRow> => {
  const occurrences = occurrencesOf(definition.cron_expression, definition.timezone);
  // Locked, so that of many creates at once none counts too few.
  checkWorker(await lockAgent(tx, agentId));
  const { MAX_SCHEDULES_PER_AGENT: most } = await readSettings(tx);
  if ((await countOfAgent(tx, agentId)) >= most) {
    throw badRequest(`The agent has ${most} schedules, the maximum. Delete one first.`, {
      setting: 'MAX_SCHEDULES_PER_AGENT',
    });
  }
  const now = await databaseNow(tx);
  const next = nextAfter(occurrences, now);
  if (!next) throw badRequest('cron_expression: has no occurrence from now until the year 2101.');
  const row = await insertSchedule(tx, agentId, definition, {
    at: next,
    zoneRules: zoneRulesVersion,
  });
  await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  await audit(tx, actor, 'schedule.create', row.id, {
    agent_id: agentId,
    cron_expression: row.cron_expression,
    timezone: row.timezone,
  });
  return row;
};

/** Records what is due and will not fire, because of `reason`, as skipped. Returns the last occurrence dealt with. */
const recordSkipped = async (tx: Tx, row: ScheduleRow, now: number, reason: string): Promise<Date | null> => {
  if (!row.next_run_at || row.next_run_at.getTime() > now) return row.last_occurrence;
  const occurrences = occurrencesOfStored(row);
  const from = row.next_run_at.getTime();
  await insertOccurrences(tx, [
    {
      id: newId(),
      schedule_id: row.id,
      scheduled_for: new Date(from),
      outcome: 'skipped',
      work_item_id: null,
      at: new Date(now),
      count: 1 + (occurrences?.countBetween(from, now) ?? 0),
      reason,
    },
  ]);
  return new Date(Math.max(from, occurrences?.previous(now) ?? from));
};

export const replaceSchedule = async (
  tx: Tx,
  id: string,
  definition: Definition,
  ifMatch: (revision: number) => void,
  actor: Actor,
): Promise<ScheduleRow> => {
  const occurrences = occurrencesOf(definition.cron_expression, definition.timezone);
  const before = await locked(tx, id);
  ifMatch(before.revision);
  const now = await databaseNow(tx);
  const sameTimes =
    before.cron_expression === definition.cron_expression && before.timezone === definition.timezone;
  let next = before.next_run_at;
  let last = before.last_occurrence;
  if (before.enabled) {
    const due = next !== null && next.getTime() <= now;
    // The same times: what is due and not yet fired stays due, so that nothing is lost or repeated.
    if (!(sameTimes && due)) {
      if (!sameTimes) last = await recordSkipped(tx, before, now, 'edited');
      next = nextAfter(occurrences, Math.max(now, sameTimes ? (last?.getTime() ?? now) : now));
      if (!next) throw badRequest('cron_expression: has no occurrence from now until the year 2101.');
    }
  }
  const row = await updateSchedule(tx, id, {
    definition,
    next_run_at: next,
    last_occurrence: last,
    zone_rules: zoneRulesVersion,
  });
  if (!sameTimes) await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  await audit(tx, actor, 'schedule.update', id, {
    before: {
      cron_expression: before.cron_expression,
      timezone: before.timezone,
      catch_up: before.catch_up,
    },
    after: { cron_expression: row.cron_expression, timezone: row.timezone, catch_up: row.catch_up },
  });
  return row;
};

export const removeSchedule = async (
  tx: Tx,
  id: string,
  ifMatch: (revision: number) => void,
  actor: Actor,
): Promise<void> => {
  const row = await locked(tx, id);
  ifMatch(row.revision);
  await deleteSchedule(tx, id);
  await audit(tx, actor, 'schedule.delete', id, {
    agent_id: row.agent_id,
    cron_expression: row.cron_expression,
    timezone: row.timezone,
  });
};

/** Pause; a due occurrence is recorded as skipped. Paused already: nothing changes. */
export const pauseSchedule = async (
  tx: Tx,
  id: string,
  reason: string | undefined,
  ifMatch: (revision: number) => void,
  actor: Actor,
): Promise<ScheduleRow> => {
  const before = await locked(tx, id);
  ifMatch(before.revision);
  if (!before.enabled) return before;
  const now = await databaseNow(tx);
  const last = await recordSkipped(tx, before, now, 'paused');
  const row = await updateSchedule(tx, id, { enabled: false, next_run_at: null, last_occurrence: last });
  await recordDefinitionVersion(tx, row, now);
  await audit(tx, actor, 'schedule.pause', id, reason === undefined ? {} : { reason });
  return row;
};

/**
 * Resume with the next occurrence strictly after now, also where the last one that was dealt with lies later: after a
 * clock that was wrong by years this brings a schedule back to the present. What was skipped under that clock may then
 * fire after all, as one Work Item; what fired does not fire again. Running already: nothing changes.
 */
export const resumeSchedule = async (
  tx: Tx,
  id: string,
  ifMatch: (revision: number) => void,
  actor: Actor,
): Promise<ScheduleRow> => {
  const before = await locked(tx, id);
  ifMatch(before.revision);
  if (before.enabled) return before;
  const now = await databaseNow(tx);
  const next = nextAfter(occurrencesOf(before.cron_expression, before.timezone), now);
  const row = await updateSchedule(tx, id, {
    enabled: true,
    next_run_at: next,
    zone_rules: zoneRulesVersion,
  });
  await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  await audit(tx, actor, 'schedule.resume', id);
  return row;
};

/** Record a run that a person asked for: it moves neither `last_run_at` nor `next_run_at`. */
export const recordManualRun = async (tx: Tx, id: string, workItemId: string, at: Date): Promise<void> =>
  insertOccurrences(tx, [
    {
      id: newId(),
      schedule_id: id,
      scheduled_for: at,
      outcome: 'manual',
      work_item_id: workItemId,
      at,
      count: 1,
      reason: null,
    },
  ]);
