import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import {
  id,
  jsonObject,
  listPage,
  offsetPageOf,
  offsetQuery,
  optional,
  pageOf,
  pageQuery,
  type Route,
  route,
  text,
} from '../http/index.ts';
import { selectEvents, selectMessages } from './history-store.ts';
import { publicEvent, publicMessage, publicWorkItem, status, toWorkItemResponse } from './schemas.ts';
import type { Action } from './states.ts';
import { selectWorkItems, type WorkItem } from './store.ts';
import { act, checkNewWorkItem, createWorkItem, findWorkItem } from './work-items.ts';

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
      role: 'member',
      method: 'POST',
      base: 'v2',
      path: `${path}/${action}`,
      summary: summaries[action],
      otherStatuses: [412],
      find,
      ...(action === 'continue' ? { body: continueBody, bodyOptional: true } : {}),
      response: publicWorkItem,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => toWorkItemResponse(await act(tx, found, action, actor, body?.message))),
    });

  return [
    route({
      id: 'listWorkItems',
      role: 'member',
      method: 'GET',
      path: '/work-items',
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
      role: 'member',
      method: 'POST',
      path: '/work-items',
      summary: 'Create a Work Item for a Worker agent',
      otherStatuses: [404],
      checkBody: (body) => checkNewWorkItem(db, body),
      body: createBody,
      response: publicWorkItem,
      idempotent: true,
      handler: ({ body: { agent_id, work_item_name, ...fields }, transaction, principal, actor }) =>
        transaction(async (tx) => {
          const item = await createWorkItem(tx, {
            ...fields,
            agentId: agent_id,
            scheduleId: null,
            workItemName: work_item_name,
            principal,
          });
          await audit(tx, actor, 'work_item.create', item.id, { agent_id, status: item.status });
          return toWorkItemResponse(item);
        }),
    }),
    route({
      id: 'getWorkItem',
      role: 'member',
      method: 'GET',
      path,
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
      role: 'member',
      method: 'GET',
      base: 'v2',
      path: `${path}/events`,
      summary: 'What happened to a Work Item, newest first',
      find,
      query: pageQuery,
      response: pageOf('WorkItemEventPage', publicEvent),
      handler: listPage(db, (executor, { limit, next }, { found }) =>
        selectEvents(executor, found.id, { limit, before: next }),
      ),
    }),
    route({
      id: 'listWorkItemMessages',
      role: 'member',
      method: 'GET',
      base: 'v2',
      path: `${path}/messages`,
      summary: 'The messages of a Work Item, newest first',
      find,
      query: pageQuery,
      response: pageOf('WorkItemMessagePage', publicMessage),
      handler: listPage(db, (executor, { limit, next }, { found }) =>
        selectMessages(executor, found.id, { limit, before: next }),
      ),
    }),
  ];
};
