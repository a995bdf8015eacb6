import { type Agent, getAgent, lockAgent, requireWorker } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { databaseNow, type Executor, type Tx } from '../database/index.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { createWorkItem, type WorkItem } from '../work-items/index.ts';
import { CronError } from './cron/cron.ts';
import { compileSchedule, type Occurrences } from './cron/occurrences.ts';
import { ZoneError, zoneRulesVersion } from './cron/zones.ts';
import { recordDefinitionVersion } from './definition-store.ts';
import { insertOccurrences } from './occurrence-store.ts';
import {
  countSchedules,
  type Definition,
  deleteScheduleRow,
  findLockedSchedule,
  findScheduleOfAgent,
  insertSchedule,
  notifyNextRun,
  type ScheduleRow,
  updateScheduleRow,
} from './store.ts';

/** Returns the occurrences of an expression in a zone. Throws 400 if one of the two is refused (description, 7.3). */
const occurrencesOf = (expression: string, timezone: string): Occurrences => {
  try {
    return compileSchedule(expression, timezone);
  } catch (error) {
    if (error instanceof CronError) throw badRequest(`cron_expression: ${error.message}`);
    if (error instanceof ZoneError) throw badRequest(`timezone: ${error.message}`);
    throw error;
  }
};

/** Like `occurrencesOf`, for a stored definition; returns null if its zone has gone since it was accepted. */
const occurrencesOfStored = (row: ScheduleRow): Occurrences | null => {
  try {
    return compileSchedule(row.cron_expression, row.timezone);
  } catch {
    return null;
  }
};

/** Throws 400 for times that are refused. It is called before the 422s of the schema: 400 wins if there are both. */
export const checkTimes = (body: Record<string, unknown>): void => {
  if (typeof body.cron_expression !== 'string') return;
  const timezone = body.timezone ?? 'UTC';
  if (typeof timezone === 'string') occurrencesOf(body.cron_expression, timezone);
};

/** Throws 400 for an agent that is not a Worker agent (description, 7.3). */
const checkWorker = (agent: Pick<Agent, 'mode'>): void =>
  requireWorker(agent, 'Schedules can only be created for worker agents.');

/** Returns the agent of a schedule's path. Throws 404 if there is none, 400 if it is not a Worker agent. */
export const getWorker = async (executor: Executor, agentId: string): Promise<Agent> => {
  const agent = await getAgent(executor, agentId);
  checkWorker(agent);
  return agent;
};

/** Returns the schedule that a path names. Throws 404 for the agent, 400 for its mode, 404 for the schedule. */
export const getSchedule = async (
  executor: Executor,
  agentId: string,
  scheduleId: string,
): Promise<ScheduleRow> => {
  if (!isId(agentId)) throw notFound('agent');
  if (!isId(scheduleId)) {
    await getWorker(executor, agentId);
    throw notFound('schedule');
  }
  const found = await findScheduleOfAgent(executor, agentId, scheduleId);
  if (!found) throw notFound('agent');
  checkWorker(found);
  if (!found.schedule) throw notFound('schedule');
  return found.schedule;
};

/** Returns the schedule, locked until the transaction ends. Throws 404 if it is gone. */
export const lockSchedule = async (tx: Tx, id: string): Promise<ScheduleRow> => {
  const row = await findLockedSchedule(tx, id);
  if (!row) throw notFound('schedule');
  return row;
};

const nextAfter = (occurrences: Occurrences, after: number): Date | null => {
  const next = occurrences.next(after);
  return next === null ? null : new Date(next);
};

const noOccurrence = () => badRequest('cron_expression: has no occurrence from now until the year 2101.');

export const createSchedule = async (
  tx: Tx,
  actor: Actor,
  agentId: string,
  definition: Definition,
): Promise<ScheduleRow> => {
  const occurrences = occurrencesOf(definition.cron_expression, definition.timezone);
  // Locked, so that none of several creates at once counts too few.
  checkWorker(await lockAgent(tx, agentId));
  const { MAX_SCHEDULES_PER_AGENT: max } = await readSettings(tx);
  if ((await countSchedules(tx, agentId)) >= max) {
    throw badRequest(`The agent has ${max} schedules, the maximum. Delete one first.`, {
      setting: 'MAX_SCHEDULES_PER_AGENT',
    });
  }
  const now = await databaseNow(tx);
  const next = nextAfter(occurrences, now);
  if (!next) throw noOccurrence();
  const row = await insertSchedule(tx, newId(), agentId, definition, {
    next_run_at: next,
    zone_rules: zoneRulesVersion,
  });
  await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  const { cron_expression, timezone } = row;
  await audit(tx, actor, 'schedule.create', row.id, { agent_id: agentId, cron_expression, timezone });
  return row;
};

/**
 * Records what is due and will not fire, because of `reason`, as skipped. Returns the last occurrence that was handled.
 */
const recordSkipped = async (tx: Tx, row: ScheduleRow, now: number, reason: string): Promise<Date | null> => {
  if (!row.next_run_at || row.next_run_at.getTime() > now) return row.last_occurrence;
  const occurrences = occurrencesOfStored(row);
  const from = row.next_run_at.getTime();
  await insertOccurrences(tx, [
    {
      id: newId(),
      schedule_id: row.id,
      scheduled_for: row.next_run_at,
      outcome: 'skipped',
      work_item_id: null,
      at: new Date(now),
      count: 1 + (occurrences?.countBetween(from, now) ?? 0),
      reason,
    },
  ]);
  return new Date(Math.max(from, occurrences?.previous(now) ?? from));
};

const definitionDetails = ({ cron_expression, timezone, catch_up }: ScheduleRow) => ({
  cron_expression,
  timezone,
  catch_up,
});

/** Replaces the definition. `before` is locked. */
export const replaceSchedule = async (
  tx: Tx,
  actor: Actor,
  before: ScheduleRow,
  definition: Definition,
): Promise<ScheduleRow> => {
  const occurrences = occurrencesOf(definition.cron_expression, definition.timezone);
  const now = await databaseNow(tx);
  const sameTimes =
    before.cron_expression === definition.cron_expression && before.timezone === definition.timezone;
  let next = before.next_run_at;
  let last = before.last_occurrence;
  if (before.enabled) {
    const due = next !== null && next.getTime() <= now;
    // With the same times, what is due and has not fired yet stays due, so that nothing is lost or repeated.
    if (!(sameTimes && due)) {
      if (!sameTimes) last = await recordSkipped(tx, before, now, 'edited');
      next = nextAfter(occurrences, Math.max(now, sameTimes ? (last?.getTime() ?? now) : now));
      if (!next) throw noOccurrence();
    }
  }
  const row = await updateScheduleRow(tx, before.id, {
    definition,
    next_run_at: next,
    last_occurrence: last,
    zone_rules: zoneRulesVersion,
  });
  if (!sameTimes) await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  const details = { before: definitionDetails(before), after: definitionDetails(row) };
  await audit(tx, actor, 'schedule.update', row.id, details);
  return row;
};

/** Deletes the schedule, which is locked. */
export const deleteSchedule = async (tx: Tx, actor: Actor, row: ScheduleRow): Promise<void> => {
  await deleteScheduleRow(tx, row.id);
  const { agent_id, cron_expression, timezone } = row;
  await audit(tx, actor, 'schedule.delete', row.id, { agent_id, cron_expression, timezone });
};

/** Pauses the schedule, which is locked, and records a due occurrence as skipped. If it is paused nothing changes. */
export const pauseSchedule = async (
  tx: Tx,
  actor: Actor,
  before: ScheduleRow,
  reason: string | undefined,
): Promise<ScheduleRow> => {
  if (!before.enabled) return before;
  const now = await databaseNow(tx);
  const last = await recordSkipped(tx, before, now, 'paused');
  const row = await updateScheduleRow(tx, before.id, {
    enabled: false,
    next_run_at: null,
    last_occurrence: last,
  });
  await recordDefinitionVersion(tx, row, now);
  await audit(tx, actor, 'schedule.pause', row.id, reason === undefined ? {} : { reason });
  return row;
};

/**
 * Resumes the schedule, which is locked, with the next occurrence strictly after now, even if the last one that was
 * dealt with is later: after a clock that was wrong by years this brings the schedule back to the present. What was
 * skipped under that clock may then fire after all, as one Work Item; what fired does not fire again. If it is not
 * paused nothing changes.
 */
export const resumeSchedule = async (tx: Tx, actor: Actor, before: ScheduleRow): Promise<ScheduleRow> => {
  if (before.enabled) return before;
  const now = await databaseNow(tx);
  const row = await updateScheduleRow(tx, before.id, {
    enabled: true,
    next_run_at: nextAfter(occurrencesOf(before.cron_expression, before.timezone), now),
    zone_rules: zoneRulesVersion,
  });
  await recordDefinitionVersion(tx, row, now);
  await notifyNextRun(tx, row);
  await audit(tx, actor, 'schedule.resume', row.id);
  return row;
};

/** Creates a Work Item of the schedule now. Neither `last_run_at` nor `next_run_at` moves. */
export const runSchedule = async (tx: Tx, actor: Actor, schedule: ScheduleRow): Promise<WorkItem> => {
  const item = await createWorkItem(tx, {
    agentId: schedule.agent_id,
    scheduleId: schedule.id,
    workItemName: schedule.work_item_name,
    message: schedule.message,
    payload: schedule.payload,
    draft: false,
    principal: actor.principal,
  });
  await insertOccurrences(tx, [
    {
      id: newId(),
      schedule_id: schedule.id,
      scheduled_for: item.created_at,
      outcome: 'manual',
      work_item_id: item.id,
      at: item.created_at,
      count: 1,
      reason: null,
    },
  ]);
  await audit(tx, actor, 'schedule.run', schedule.id, { work_item_id: item.id });
  return item;
};
