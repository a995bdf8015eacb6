import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database, Executor } from '../database/index.ts';
import {
  finder,
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
import { listEvents, listMessages } from './history-store.ts';
import {
  publicEvent,
  publicMessage,
  publicTrace,
  publicWorkItem,
  status,
  toWorkItemResponse,
} from './schemas.ts';
import type { Action } from './states.ts';
import { findWorkItem, listWorkItems } from './store.ts';
import { act, checkNewWorkItem, createWorkItem } from './work-items.ts';

const path = '/work-items/{work_item_id}';

const message = text(10_000);

const createBody = z
  .object({
    agent_id: id,
    message: optional(message, ''),
    payload: optional(jsonObject, {}),
    work_item_name: optional(text(200), null),
    draft: optional(z.boolean(), false).describe('It stays a DRAFT until it is submitted.'),
  })
  .meta({ id: 'CreateWorkItemBody' });

const continueBody = z
  .object({ message: optional(message).describe('Added to the conversation.') })
  .meta({ id: 'ContinueWorkItemBody' });

const filters = z.object({
  agent_id: z.string().optional().describe('Work Items of this agent.'),
  status: status.optional(),
  schedule_id: z.string().optional().describe('Work Items that this schedule created.'),
});

const actionTexts: Record<Action, { summary: string; description: string }> = {
  submit: { summary: 'Submit a draft', description: 'The Work Item becomes PENDING.' },
  cancel: {
    summary: 'Cancel a Work Item',
    description: 'If it is EXECUTING, it is cancelled within 30 seconds.',
  },
  continue: {
    summary: 'Continue a Work Item',
    description: 'The next attempt continues the same conversation.',
  },
  restart: { summary: 'Restart a Work Item', description: 'It begins again with a new conversation.' },
  complete: {
    summary: 'Complete a Work Item',
    description: 'A person declares that it is done. Its result stays as it is.',
  },
};

export interface WorkItemNeeds {
  /** Where a person can see a trace of an agent. */
  traceLinks(
    executor: Executor,
    agentId: string,
    traceId: string,
  ): Promise<{ integration_id: string; description: string | null; url: string }[]>;
}

export const workItemRoutes = (db: Database, { traceLinks }: WorkItemNeeds): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItem);

  const actionRoute = (action: Action): Route =>
    route({
      id: `${action}WorkItem`,
      role: 'member',
      method: 'POST',
      base: 'v2',
      path: `${path}/${action}`,
      ...actionTexts[action],
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
      summary: 'List Work Items',
      query: offsetQuery.extend(filters.shape),
      response: offsetPageOf('WorkItemPage', publicWorkItem),
      handler: async ({ query: { limit, offset, ...filter } }) => {
        const { items, total } = await db.run((executor) =>
          listWorkItems(executor, filter, { limit, offset }),
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
      summary: 'Create a Work Item',
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
      summary: 'Get a Work Item',
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
      summary: 'List the events of a Work Item',
      find,
      query: pageQuery,
      response: pageOf('WorkItemEventPage', publicEvent),
      handler: listPage(db, (executor, page, { found }) => listEvents(executor, found.id, page)),
    }),
    route({
      id: 'listWorkItemMessages',
      role: 'member',
      method: 'GET',
      base: 'v2',
      path: `${path}/messages`,
      summary: 'List the messages of a Work Item',
      find,
      query: pageQuery,
      response: pageOf('WorkItemMessagePage', publicMessage),
      handler: listPage(db, (executor, page, { found }) => listMessages(executor, found.id, page)),
    }),
    route({
      id: 'getWorkItemTrace',
      role: 'member',
      method: 'GET',
      base: 'v2',
      path: `${path}/trace`,
      summary: 'Get the trace of a Work Item',
      description: 'The trace of the last attempt, and where it can be seen.',
      find,
      response: publicTrace,
      handler: async ({ found: { agent_id, trace_id } }) => ({
        trace_id,
        links: trace_id === null ? [] : await db.run((executor) => traceLinks(executor, agent_id, trace_id)),
      }),
    }),
  ];
};
