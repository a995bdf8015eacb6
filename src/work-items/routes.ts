import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import {
  id,
  jsonObject,
  offsetPageOf,
  offsetQuery,
  optional,
  pageOf,
  pageQuery,
  type Route,
  readCursor,
  route,
  text,
  toPage,
} from '../http/index.ts';
import { selectEvents, selectMessages } from './history-store.ts';
import { publicEvent, publicMessage, publicWorkItem, status, toWorkItemResponse } from './schemas.ts';
import type { Action } from './states.ts';
import { selectWorkItems, type WorkItem } from './store.ts';
import { act, checkNewWorkItem, createWorkItem, findWorkItem } from './work-items.ts';

const tag = 'Work Items';
const path = '/work-items/{work_item_id}';

const message = text(10_000);

const createBody = z
  .object({
    agent_id: id,
    message: optional(message, ''),
    payload: optional(jsonObject, {}),
    work_item_name: optional(text(200), null),
    draft: optional(z.boolean(), false).describe('Leave it a DRAFT until it is submitted.'),
  })
  .meta({ id: 'CreateWorkItemBody' });

const continueBody = z
  .object({ message: optional(message).describe('Goes on with the conversation.') })
  .meta({ id: 'ContinueWorkItemBody' });

const filters = z.object({
  agent_id: z.string().optional().describe('Those of this agent.'),
  status: status.optional(),
  schedule_id: z.string().optional().describe('Those that this schedule made.'),
});

const summaries: Record<Action, string> = {
  submit: 'Make a draft PENDING',
  cancel: 'Cancel a Work Item; one that executes is cancelled within 30 seconds',
  continue: 'Go on with the same conversation',
  restart: 'Begin again with a new conversation',
  complete: 'Declare a Work Item COMPLETED',
};

export const workItemRoutes = (db: Database): Route[] => {
  const find = ({ params }: { params: Record<string, string> }): Promise<WorkItem> =>
    db.run((executor) => findWorkItem(executor, params.work_item_id!));

  const actionRoute = (action: Action): Route =>
    route({
      id: `${action}WorkItem`,
      method: 'POST',
      base: 'v2',
      path: `${path}/${action}`,
      tag,
      summary: summaries[action],
      otherStatuses: [412],
      find,
      ...(action === 'continue' ? { body: continueBody, bodyOptional: true } : {}),
      response: publicWorkItem,
      handler: ({ found, body, transaction, principal, requestId }) =>
        transaction(async (tx) =>
          toWorkItemResponse(await act(tx, found, action, { principal, requestId }, body?.message)),
        ),
    });

  return [
    route({
      id: 'listWorkItems',
      method: 'GET',
      path: '/work-items',
      tag,
      summary: 'Work Items, newest first',
      query: offsetQuery.extend(filters.shape),
      response: offsetPageOf('WorkItemPage', publicWorkItem),
      handler: async ({ query: { limit, offset, ...filter } }) => {
        const { items, total } = await db.run((executor) =>
          selectWorkItems(executor, filter, { limit, offset }),
        );
        const seen = offset + items.length;
        return {
          records: items.map(toWorkItemResponse),
          total_count: total,
          next_offset: items.length > 0 && seen < total ? seen : null,
        };
      },
    }),
    route({
      id: 'createWorkItem',
      method: 'POST',
      path: '/work-items',
      tag,
      summary: 'Create a Work Item for a Worker agent',
      otherStatuses: [404],
      checkBody: (body) => checkNewWorkItem(db, body),
      body: createBody,
      response: publicWorkItem,
      idempotent: true,
      handler: ({ body: { agent_id, work_item_name, ...fields }, transaction, principal, requestId }) =>
        transaction(async (tx) => {
          const item = await createWorkItem(tx, {
            ...fields,
            agentId: agent_id,
            scheduleId: null,
            workItemName: work_item_name,
            principal,
          });
          await audit(tx, principal, {
            action: 'work_item.create',
            targetType: 'work_item',
            targetId: item.id,
            details: { agent_id, status: item.status },
            requestId,
          });
          return toWorkItemResponse(item);
        }),
    }),
    route({
      id: 'getWorkItem',
      method: 'GET',
      path,
      tag,
      summary: 'One Work Item',
      find,
      response: publicWorkItem,
      handler: async ({ found }) => toWorkItemResponse(found),
    }),
    actionRoute('submit'),
    actionRoute('continue'),
    actionRoute('restart'),
    actionRoute('cancel'),
    actionRoute('complete'),
    route({
      id: 'listWorkItemEvents',
      method: 'GET',
      base: 'v2',
      path: `${path}/events`,
      tag,
      summary: 'What happened to a Work Item, newest first',
      find,
      query: pageQuery,
      response: pageOf('WorkItemEventPage', publicEvent),
      handler: async ({ found, query: { limit, next } }) => {
        const page = { limit, before: readCursor(next) };
        const events = await db.run((executor) => selectEvents(executor, found.id, page));
        return toPage(events, limit, (event) => event);
      },
    }),
    route({
      id: 'listWorkItemMessages',
      method: 'GET',
      base: 'v2',
      path: `${path}/messages`,
      tag,
      summary: 'The messages of a Work Item, newest first',
      find,
      query: pageQuery,
      response: pageOf('WorkItemMessagePage', publicMessage),
      handler: async ({ found, query: { limit, next } }) => {
        const page = { limit, before: readCursor(next) };
        const messages = await db.run((executor) => selectMessages(executor, found.id, page));
        return toPage(messages, limit, (one) => one);
      },
    }),
  ];
};
