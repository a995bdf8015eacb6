import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import { type Context, listPage, pageOf, pageQuery, type Route, route } from '../http/index.ts';
import { checkPayloadSize, createWorkItem, publicWorkItem, toWorkItemResponse } from '../work-items/index.ts';
import { preview } from './cron/preview.ts';
import { listOccurrences } from './occurrence-store.ts';
import { reconciliationRoute } from './reconciliation-route.ts';
import {
  createSchedule,
  findSchedule,
  findWorker,
  occurrencesOf,
  pauseSchedule,
  recordManualRun,
  removeSchedule,
  replaceSchedule,
  resumeSchedule,
} from './schedules.ts';
import {
  definition,
  occurrence,
  pauseBody,
  previewAnswer,
  previewBody,
  publicSchedule,
  toOccurrenceResponse,
} from './schemas.ts';
import { listOfAgent, type ScheduleRow } from './store.ts';

const timeFields = ['cron_expression', 'timezone'] as const;
const path = '/agents/{agent_id}/schedules';
const onePath = `${path}/{schedule_id}`;

/** 400 for times that cannot be, found before the schema's 422s, which they win over. */
const checkTimes = (body: Record<string, unknown>): void => {
  if (typeof body.cron_expression !== 'string') return;
  const timezone = body.timezone ?? 'UTC';
  if (typeof timezone === 'string') occurrencesOf(body.cron_expression, timezone);
};

type Loaded = Context<ScheduleRow>;

export const scheduleRoutes = (db: Database): Route[] => {
  const findAgentOnly = ({ params }: { params: Record<string, string> }) => findWorker(db, params.agent_id!);
  const find = ({ params }: { params: Record<string, string> }) =>
    findSchedule(db, params.agent_id!, params.schedule_id!);
  const checkBody = async (body: Record<string, unknown>) => {
    checkTimes(body);
    await checkPayloadSize(db, body.payload);
  };
  const answer = ({ etag }: Pick<Loaded, 'etag'>, row: ScheduleRow): ScheduleRow => {
    etag(row.revision);
    return row;
  };

  return [
    route({
      id: 'listSchedules',
      role: 'member',
      method: 'GET',
      path,
      summary: 'All schedules of a Worker agent, in one page',
      otherStatuses: [400],
      find: findAgentOnly,
      response: pageOf('SchedulePage', publicSchedule),
      handler: async ({ params }) => ({
        data: await db.run((executor) => listOfAgent(executor, params.agent_id!)),
        has_more: false,
        next: '',
      }),
    }),
    route({
      id: 'createSchedule',
      role: 'builder',
      method: 'POST',
      path,
      summary: 'Create a schedule',
      description: 'It is enabled, and `next_run_at` is its first occurrence.',
      find: findAgentOnly,
      body: definition,
      badRequestFields: timeFields,
      checkBody,
      response: publicSchedule,
      idempotent: true,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) =>
          answer(context, await createSchedule(tx, context.params.agent_id!, context.body, context.actor)),
        ),
    }),
    route({
      id: 'getSchedule',
      role: 'member',
      method: 'GET',
      path: onePath,
      summary: 'One schedule',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      etag: true,
      handler: async (context) => answer(context, context.found),
    }),
    route({
      id: 'replaceSchedule',
      role: 'builder',
      method: 'PUT',
      path: onePath,
      summary: 'Replace a schedule’s whole definition',
      description:
        'Optional fields that are left out go back to their defaults. `enabled` stays; `next_run_at` is recomputed.',
      find,
      body: definition,
      badRequestFields: timeFields,
      checkBody,
      response: publicSchedule,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) =>
          answer(
            context,
            await replaceSchedule(tx, context.found.id, context.body, context.ifMatch, context.actor),
          ),
        ),
    }),
    route({
      id: 'deleteSchedule',
      role: 'builder',
      method: 'DELETE',
      path: onePath,
      summary: 'Delete a schedule; its Work Items remain',
      otherStatuses: [400],
      find,
      status: 204,
      etag: true,
      handler: (context) =>
        context.transaction((tx) => removeSchedule(tx, context.found.id, context.ifMatch, context.actor)),
    }),
    route({
      id: 'pauseSchedule',
      role: 'builder',
      method: 'POST',
      base: 'app',
      path: `${onePath}/pause`,
      summary: 'Pause a schedule',
      find,
      body: pauseBody,
      bodyOptional: true,
      response: publicSchedule,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) =>
          answer(
            context,
            await pauseSchedule(tx, context.found.id, context.body.reason, context.ifMatch, context.actor),
          ),
        ),
    }),
    route({
      id: 'resumeSchedule',
      role: 'builder',
      method: 'POST',
      base: 'app',
      path: `${onePath}/resume`,
      summary: 'Resume a schedule, with the next occurrence after now',
      otherStatuses: [400],
      find,
      response: publicSchedule,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) =>
          answer(context, await resumeSchedule(tx, context.found.id, context.ifMatch, context.actor)),
        ),
    }),
    route({
      id: 'runSchedule',
      role: 'builder',
      method: 'POST',
      base: 'app',
      path: `${onePath}/run`,
      summary: 'Create a Work Item now, also while paused',
      description: 'Moves neither `last_run_at` nor `next_run_at`.',
      otherStatuses: [400],
      find,
      response: publicWorkItem,
      idempotent: true,
      handler: ({ found, transaction, principal, actor }) =>
        transaction(async (tx) => {
          const item = await createWorkItem(tx, {
            agentId: found.agent_id,
            scheduleId: found.id,
            workItemName: found.work_item_name,
            message: found.message,
            payload: found.payload,
            draft: false,
            principal,
          });
          await recordManualRun(tx, found.id, item.id, item.created_at);
          await audit(tx, actor, 'schedule.run', found.id, { work_item_id: item.id });
          return toWorkItemResponse(item);
        }),
    }),
    route({
      id: 'listOccurrences',
      role: 'member',
      method: 'GET',
      base: 'app',
      path: `${onePath}/occurrences`,
      summary: 'What happened to each occurrence, newest first',
      otherStatuses: [400],
      find,
      query: pageQuery,
      response: pageOf('OccurrencePage', occurrence),
      handler: listPage(
        db,
        (executor, { limit, next }, { found }) =>
          listOccurrences(executor, found.id, { limit, before: next }),
        toOccurrenceResponse,
      ),
    }),
    reconciliationRoute(db, find),
    route({
      id: 'previewSchedule',
      role: 'member',
      method: 'POST',
      base: 'app',
      path: '/schedules/preview',
      summary: 'The next occurrences of an expression, and the expression in words',
      body: previewBody,
      badRequestFields: timeFields,
      checkBody: checkTimes,
      response: previewAnswer,
      handler: async ({ body: { after, ...asked } }) =>
        preview({ ...asked, after: after === undefined ? Date.now() : Date.parse(after) }),
    }),
  ];
};
