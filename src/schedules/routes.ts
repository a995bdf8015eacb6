import { preview } from '@agent-platform/cron';
import { z } from 'zod';
import type { Database, Tx } from '../database/index.ts';
import { type Context, pageOf, type Route, route } from '../http/index.ts';
import { checkPayloadSize, publicWorkItem, toWorkItemResponse } from '../work-items/index.ts';
import { actionRoutes } from './action-routes.ts';
import { pageOfOccurrences } from './explain/ledger.ts';
import { explainRoutes } from './explain/routes.ts';
import { changesAmong, definitionVersion } from './explain/versions.ts';
import { deleteSchedule, pauseSchedule, resumeSchedule } from './pauses.ts';
import { reconciliationRoute } from './reconciliation-route.ts';
import {
  checkTimes,
  checkTimesAndSuggest,
  createSchedule,
  getSchedule,
  getWorker,
  lockSchedule,
  replaceSchedule,
  runSchedule,
} from './schedules.ts';
import {
  definition,
  occurrence,
  occurrenceQuery,
  pauseBody,
  previewBody,
  previewResponse,
  publicSchedule,
  runBody,
} from './schemas.ts';
import { listSchedules, type ScheduleRow } from './store.ts';
import { timeZoneRoutes, toTimeZone } from './time-zone-routes.ts';

const reads = { role: 'member', scope: 'schedules:read', method: 'GET' } as const;
const writes = { role: 'builder', scope: 'schedules' } as const;

const timeFields = ['cron_expression', 'timezone'] as const;
const path = '/agents/{agent_id}/schedules';
const onePath = `${path}/{schedule_id}`;

const occurrencePage = pageOf('OccurrencePage', occurrence)
  .extend({
    changes: z
      .array(definitionVersion)
      .describe('The versions of the schedule that began between these occurrences, newest first.'),
  })
  .meta({ id: 'OccurrencePage' });

/** Changes the schedule that the path names, under its lock. */
const change = (
  { found, transaction, ifMatch, etag }: Context<ScheduleRow>,
  rule: (tx: Tx, before: ScheduleRow) => Promise<ScheduleRow>,
): Promise<ScheduleRow> =>
  transaction(async (tx) => {
    const before = await lockSchedule(tx, found.id);
    ifMatch(before.revision);
    const schedule = await rule(tx, before);
    etag(schedule.revision);
    return schedule;
  });

export const scheduleRoutes = (db: Database): Route[] => {
  const findWorker = ({ params }: { params: Record<string, string> }) =>
    db.run((executor) => getWorker(executor, params.agent_id!));
  const find = ({ params }: { params: Record<string, string> }) =>
    db.run((executor) => getSchedule(executor, params.agent_id!, params.schedule_id!));
  const checkBody = async (body: Record<string, unknown>) => {
    checkTimes(body);
    await checkPayloadSize(db, body.payload);
  };

  return [
    route({
      ...reads,
      id: 'listSchedules',
      path,
      summary: 'List schedules',
      description: 'All schedules of a Worker agent, in one page.',
      otherStatuses: [400],
      find: findWorker,
      response: pageOf('SchedulePage', publicSchedule),
      handler: async ({ found }) => ({
        data: await db.run((executor) => listSchedules(executor, found.id)),
        has_more: false,
        next: '',
      }),
    }),
    route({
      ...writes,
      id: 'createSchedule',
      method: 'POST',
      path,
      summary: 'Create a schedule',
      description: 'It is enabled, and `next_run_at` is its first occurrence.',
      find: findWorker,
      handlerFinds: true,
      body: definition,
      badRequestFields: timeFields,
      checkBody,
      response: publicSchedule,
      idempotent: true,
      etag: true,
      handler: ({ params, body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const schedule = await createSchedule(tx, actor, params.agent_id!, body);
          etag(schedule.revision);
          return schedule;
        }),
    }),
    route({
      ...reads,
      id: 'getSchedule',
      path: onePath,
      summary: 'Get a schedule',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      etag: true,
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return found;
      },
    }),
    route({
      ...writes,
      id: 'replaceSchedule',
      method: 'PUT',
      path: onePath,
      summary: 'Replace a schedule',
      description:
        'Optional fields that are left out go back to their defaults. `enabled` stays; `next_run_at` is recomputed.',
      find,
      body: definition,
      badRequestFields: timeFields,
      checkBody,
      response: publicSchedule,
      etag: true,
      handler: (context) =>
        change(context, (tx, before) => replaceSchedule(tx, context.actor, before, context.body)),
    }),
    route({
      ...writes,
      id: 'deleteSchedule',
      method: 'DELETE',
      path: onePath,
      summary: 'Delete a schedule',
      description: 'Its Work Items remain.',
      otherStatuses: [400],
      find,
      status: 204,
      etag: true,
      handler: ({ found, transaction, ifMatch, actor }) =>
        transaction(async (tx) => {
          const schedule = await lockSchedule(tx, found.id);
          ifMatch(schedule.revision);
          await deleteSchedule(tx, actor, schedule);
        }),
    }),
    route({
      ...writes,
      id: 'pauseSchedule',
      method: 'POST',
      base: 'app',
      path: `${onePath}/pause`,
      summary: 'Pause a schedule',
      description: 'An occurrence that is due and has not fired is recorded as skipped.',
      find,
      body: pauseBody,
      bodyOptional: true,
      response: publicSchedule,
      etag: true,
      handler: (context) =>
        change(context, (tx, before) => pauseSchedule(tx, context.actor, before, context.body.reason)),
    }),
    route({
      ...writes,
      id: 'resumeSchedule',
      method: 'POST',
      base: 'app',
      path: `${onePath}/resume`,
      summary: 'Resume a schedule',
      description: 'It continues with the next occurrence after now.',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      etag: true,
      handler: (context) => change(context, (tx, before) => resumeSchedule(tx, context.actor, before)),
    }),
    route({
      ...writes,
      id: 'runSchedule',
      method: 'POST',
      base: 'app',
      path: `${onePath}/run`,
      summary: 'Run a schedule',
      description:
        'Creates a Work Item now, or for `start_at`, also while the schedule is paused and whatever its `overlap`. Moves neither `last_run_at` nor `next_run_at`.',
      find,
      body: runBody,
      bodyOptional: true,
      response: publicWorkItem,
      idempotent: true,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => toWorkItemResponse(await runSchedule(tx, actor, found, body.start_at))),
    }),
    route({
      ...reads,
      id: 'listOccurrences',
      base: 'app',
      path: `${onePath}/occurrences`,
      summary: 'List occurrences',
      description: 'What became of each occurrence of a schedule and why, by nominal time, the latest first.',
      otherStatuses: [400],
      find,
      query: occurrenceQuery,
      response: occurrencePage,
      handler: ({ found, query }) =>
        db.run(async (executor) => {
          const page = await pageOfOccurrences(executor, found, query);
          return { ...page, changes: await changesAmong(executor, found, query, page) };
        }),
    }),
    ...explainRoutes(db, find),
    reconciliationRoute(db, find),
    route({
      id: 'previewSchedule',
      role: 'member',
      scope: 'schedules:read',
      method: 'POST',
      base: 'app',
      path: '/schedules/preview',
      summary: 'Preview a schedule',
      description:
        'Returns the next occurrences of an expression, the expression in words, and how often it fires. A refusal has in `suggestion` what was probably meant.',
      body: previewBody,
      badRequestFields: timeFields,
      checkBody: checkTimesAndSuggest,
      response: previewResponse,
      handler: async ({ body: { after, ...schedule } }) => ({
        ...preview({ ...schedule, after: after === undefined ? Date.now() : Date.parse(after) }),
        zone: toTimeZone(schedule.timezone, Date.now()),
      }),
    }),
    ...actionRoutes(db),
    ...timeZoneRoutes(),
  ];
};
