import { isDeepStrictEqual } from 'node:util';
import {
  CronError,
  compileSchedule,
  type Occurrences,
  suggestExpression,
  suggestZone,
  ZoneError,
  zoneRulesVersion,
} from '@agent-platform/cron';
import { type Agent, agentCalls } from '../agents/index.ts';
import { audit, auditInsertion } from '../audit/index.ts';
import { databaseNow, type Executor, type Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings, settingNumber } from '../settings/index.ts';
import { type WorkItem, workItemCalls } from '../work-items/index.ts';
import { definitionInsertion, recordDefinitionVersions } from './definition-store.ts';
import { insertOccurrences, type OccurrenceRow } from './occurrence-store.ts';
import { occurrencesOfStored } from './occurrences.ts';
import {
  type Definition,
  findLockedSchedule,
  findScheduleOfAgent,
  insertSchedule,
  notifyNextRun,
  type ScheduleRow,
  type ScheduleTimes,
  schedules,
  updateLastOutcome,
  updateScheduleRow,
} from './store.ts';

/** Returns the occurrences of an expression in a zone. Throws 400 if one of the two is refused (description, 7.3). */
export const occurrencesOf = (expression: string, timezone: string): Occurrences => {
  try {
    return compileSchedule(expression, timezone);
  } catch (error) {
    if (error instanceof CronError) throw badRequest(`cron_expression: ${error.message}`);
    if (error instanceof ZoneError) throw badRequest(`timezone: ${error.message}`);
    throw error;
  }
};

/** Throws 400 for times that are refused. It is called before the 422s of the schema: 400 wins if there are both. */
export const checkTimes = (body: Record<string, unknown>): void => {
  if (typeof body.cron_expression !== 'string') return;
  const timezone = body.timezone ?? 'UTC';
  if (typeof timezone === 'string') occurrencesOf(body.cron_expression, timezone);
};

/** Like `checkTimes`; the error also has in `suggestion` what was probably meant, if that can be said. */
export const checkTimesAndSuggest = (body: Record<string, unknown>): void => {
  try {
    checkTimes(body);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isZone = error.message.startsWith('timezone');
    const suggestion = isZone
      ? suggestZone(String(body.timezone))
      : suggestExpression(String(body.cron_expression));
    throw suggestion === null ? error : badRequest(error.message, { ...error.context, suggestion });
  }
};

/** Throws 400 for an agent that is not a Worker agent (description, 7.3). */
const checkWorker = (agent: Pick<Agent, 'mode'>): void =>
  agentCalls.requireWorker(agent, 'Schedules can only be created for worker agents.');

/** Returns the agent of a schedule's path. Throws 404 if there is none, 400 if it is not a Worker agent. */
export const getWorker = async (executor: Executor, agentId: string): Promise<Agent> => {
  const agent = await agentCalls.get(executor, agentId);
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

export const nextAfter = (occurrences: Occurrences, after: number): Date | null => {
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
  const agent = await agentCalls.lockMode(tx, agentId);
  checkWorker(agent);
  const now = agent.now.getTime();
  const next = nextAfter(occurrences, now);
  if (!next) throw noOccurrence();
  const id = newId();
  const { cron_expression, timezone } = definition;
  const { principal } = actor;
  const row = await insertSchedule(
    tx,
    { id, agent_id: agentId, definition, next_run_at: next, zone_rules: zoneRulesVersion },
    settingNumber('MAX_SCHEDULES_PER_AGENT'),
    (source) =>
      definitionInsertion(source, now, { action: 'create', principal, reason: null, changed: null }),
    auditInsertion(actor, [
      { action: 'schedule.create', targetId: id, details: { agent_id: agentId, cron_expression, timezone } },
    ]),
  );
  if (row) return row;
  const { MAX_SCHEDULES_PER_AGENT: most } = await readSettings(tx);
  throw badRequest(`The agent has ${most} schedules, the maximum. Delete one first.`, {
    setting: 'MAX_SCHEDULES_PER_AGENT',
  });
};

/** The row that records what is due of a schedule and will not fire, and the last occurrence that it covers. */
interface Skipped {
  row: OccurrenceRow | null;
  last: Date | null;
}

/** Returns what is recorded of what is due at `now` and will not fire, because of `reason`. */
export const skipDue = (row: ScheduleTimes, now: number, reason: 'paused' | 'edited'): Skipped => {
  if (!row.next_run_at || row.next_run_at.getTime() > now) return { row: null, last: row.last_occurrence };
  const occurrences = occurrencesOfStored(row);
  const from = row.next_run_at.getTime();
  const skipped: OccurrenceRow = {
    id: newId(),
    schedule_id: row.id,
    scheduled_for: row.next_run_at,
    outcome: 'skipped',
    work_item_id: null,
    at: new Date(now),
    count: 1 + (occurrences?.countBetween(from, now) ?? 0),
    reason,
  };
  return { row: skipped, last: new Date(Math.max(from, occurrences?.previous(now) ?? from)) };
};

const definitionDetails = ({ cron_expression, timezone, catch_up, overlap }: ScheduleRow) => ({
  cron_expression,
  timezone,
  catch_up,
  overlap,
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
  let skipped = false;
  if (before.enabled) {
    const due = next !== null && next.getTime() <= now;
    // With the same times, what is due and has not fired yet stays due, so that nothing is lost or repeated.
    if (!(sameTimes && due)) {
      if (!sameTimes) {
        const due = skipDue(before, now, 'edited');
        if (due.row) await insertOccurrences(tx, [due.row]);
        skipped = due.row !== null;
        last = due.last;
      }
      next = nextAfter(occurrences, Math.max(now, sameTimes ? (last?.getTime() ?? now) : now));
      if (!next) throw noOccurrence();
    }
  }
  const row = await updateScheduleRow(tx, before.id, {
    definition,
    next_run_at: next,
    last_occurrence: last,
    zone_rules: zoneRulesVersion,
    ...(skipped ? { last_outcome: 'skipped' } : {}),
  });
  if (before.overlap === 'queue' && row.overlap !== 'queue') await workItemCalls.watchRunning(tx, row.id);
  const changed = (Object.keys(schedules.fields) as (keyof Definition)[]).filter(
    (field) => !isDeepStrictEqual(before[field], row[field]),
  );
  if (changed.length > 0) {
    const { principal } = actor;
    await recordDefinitionVersions(tx, [row.id], now, { action: 'update', principal, reason: null, changed });
  }
  await notifyNextRun(tx, [row.next_run_at]);
  const details = { before: definitionDetails(before), after: definitionDetails(row) };
  await audit(tx, actor, 'schedule.update', row.id, details);
  return row;
};

/** Creates a Work Item of the schedule, for now or for `start`. Neither `last_run_at` nor `next_run_at` moves. */
export const runSchedule = async (
  tx: Tx,
  actor: Actor,
  schedule: ScheduleRow,
  start: string | null,
): Promise<WorkItem> => {
  const startAt = await workItemCalls.readStart(tx, start);
  const item = await workItemCalls.create(tx, {
    agentId: schedule.agent_id,
    scheduleId: schedule.id,
    workItemName: schedule.work_item_name,
    message: schedule.message,
    payload: schedule.payload,
    draft: false,
    startAt,
    principal: actor.principal,
  });
  const isLater = startAt !== null && startAt > item.created_at;
  await insertOccurrences(tx, [
    {
      id: newId(),
      schedule_id: schedule.id,
      scheduled_for: isLater ? startAt : item.created_at,
      outcome: 'manual',
      work_item_id: item.id,
      at: item.created_at,
      count: 1,
      reason: null,
    },
  ]);
  await updateLastOutcome(tx, schedule.id, 'manual');
  await audit(tx, actor, 'schedule.run', schedule.id, {
    work_item_id: item.id,
    ...(isLater ? { start_at: startAt.toISOString() } : {}),
  });
  return item;
};
