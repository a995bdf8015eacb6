import { preview } from '@agent-platform/cron';
import { z } from 'zod';
import type { Database, Tx } from '../database/index.ts';
import { type JsonContext, jsonRoute, pageOf, type Route } from '../http/index.ts';
import { publicWorkItem, toWorkItemResponse, workItemCalls } from '../work-items/index.ts';
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

const reads = { role: 'member', scope: 'schedules:read' } as const;
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

const lock = (tx: Tx, { found }: { found: ScheduleRow }): Promise<ScheduleRow> => lockSchedule(tx, found.id);

/** Changes the locked schedule. */
const change = (
  { transaction, etag }: Pick<JsonContext<unknown, unknown, unknown, ScheduleRow>, 'transaction' | 'etag'>,
  rule: (tx: Tx, before: ScheduleRow) => Promise<ScheduleRow>,
): Promise<ScheduleRow> =>
  transaction(async (tx, before) => {
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
    await workItemCalls.checkPayloadSize(db, body.payload);
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listSchedules',
      request: `GET ${path}`,
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
    jsonRoute({
      ...writes,
      id: 'createSchedule',
      request: `POST ${path}`,
      summary: 'Create a schedule',
      description: 'It is enabled, and `next_run_at` is its first occurrence.',
      find: { ifRefused: findWorker },
      body: { schema: definition, badRequestFields: timeFields, precheck: checkBody },
      response: publicSchedule,
      idempotent: true,
      cache: 'revision',
      handler: ({ params, body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const schedule = await createSchedule(tx, actor, params.agent_id!, body);
          etag(schedule.revision);
          return schedule;
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getSchedule',
      request: `GET ${onePath}`,
      summary: 'Get a schedule',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return found;
      },
    }),
    jsonRoute({
      ...writes,
      id: 'replaceSchedule',
      request: `PUT ${onePath}`,
      summary: 'Replace a schedule',
      description:
        'Optional fields that are left out go back to their defaults. `enabled` stays; `next_run_at` is recomputed.',
      find,
      body: { schema: definition, badRequestFields: timeFields, precheck: checkBody },
      response: publicSchedule,
      cache: 'revision',
      lock,
      handler: (context) =>
        change(context, (tx, before) => replaceSchedule(tx, context.actor, before, context.body)),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteSchedule',
      request: `DELETE ${onePath}`,
      summary: 'Delete a schedule',
      description: 'Its Work Items remain.',
      otherStatuses: [400],
      find,
      lock,
      handler: ({ transaction, actor }) => transaction((tx, schedule) => deleteSchedule(tx, actor, schedule)),
    }),
    jsonRoute({
      ...writes,
      id: 'pauseSchedule',
      base: 'app',
      request: `POST ${onePath}/pause`,
      summary: 'Pause a schedule',
      description: 'An occurrence that is due and has not fired is recorded as skipped.',
      find,
      body: { schema: pauseBody, optional: true },
      response: publicSchedule,
      cache: 'revision',
      lock,
      handler: (context) =>
        change(context, (tx, before) => pauseSchedule(tx, context.actor, before, context.body.reason)),
    }),
    jsonRoute({
      ...writes,
      id: 'resumeSchedule',
      base: 'app',
      request: `POST ${onePath}/resume`,
      summary: 'Resume a schedule',
      description: 'It continues with the next occurrence after now.',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      cache: 'revision',
      lock,
      handler: (context) => change(context, (tx, before) => resumeSchedule(tx, context.actor, before)),
    }),
    jsonRoute({
      ...writes,
      id: 'runSchedule',
      base: 'app',
      request: `POST ${onePath}/run`,
      summary: 'Run a schedule',
      description:
        'Creates a Work Item now, or for `start_at`, also while the schedule is paused and whatever its `overlap`. Moves neither `last_run_at` nor `next_run_at`.',
      find,
      body: { schema: runBody, optional: true },
      response: publicWorkItem,
      idempotent: true,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => toWorkItemResponse(await runSchedule(tx, actor, found, body.start_at))),
    }),
    jsonRoute({
      ...reads,
      id: 'listOccurrences',
      base: 'app',
      request: `GET ${onePath}/occurrences`,
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
    jsonRoute({
      id: 'previewSchedule',
      role: 'member',
      scope: 'schedules:read',
      base: 'app',
      request: 'POST /schedules/preview',
      summary: 'Preview a schedule',
      description:
        'Returns the next occurrences of an expression, the expression in words, and how often it fires. A refusal has in `suggestion` what was probably meant.',
      body: { schema: previewBody, badRequestFields: timeFields, precheck: checkTimesAndSuggest },
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
