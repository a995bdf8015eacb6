import { z } from 'zod';
import type { CallbackStore } from '../callbacks/index.ts';
import type { Database, Executor } from '../database/index.ts';
import {
  finder,
  givenTime,
  jsonRoute,
  listPage,
  offsetPageOf,
  offsetQuery,
  optional,
  pageOf,
  pageQuery,
  type Route,
} from '../http/index.ts';
import { ApiError } from '../lib/errors.ts';
import { decisionList } from '../runs/index.ts';
import { bulkRoutes } from './bulk-routes.ts';
import { changeRoutes } from './change-routes.ts';
import { revisionOf } from './changes.ts';
import { listEvents, listMessages } from './history-store.ts';
import {
  createBody,
  message,
  publicEvent,
  publicMessage,
  publicTrace,
  publicWorkItem,
  status,
  toWorkItemResponse,
  versionFilter,
  versionNeedsAgent,
} from './schemas.ts';
import type { Action } from './states.ts';
import { findWorkItem, listWorkItems } from './store.ts';
import { act, checkNewWorkItem, createAll } from './work-items.ts';

const path = '/work-items/{work_item_id}';

const continueBody = z
  .object({
    message: optional(message).describe(
      'Added to the conversation. Pending tool calls without a decision are denied with it as the reason.',
    ),
    decisions: optional(decisionList).describe(
      "What a person decided on `pending_approvals`. Requires the agent's `approval_role`.",
    ),
  })
  .meta({ id: 'ContinueWorkItemBody' });

const filters = z.object({
  agent_id: z.string().optional().describe('Work Items of this agent.'),
  status: status.optional(),
  agent_version: versionFilter,
  schedule_id: z.string().optional().describe('Work Items that this schedule created.'),
  trigger_id: z.string().optional().describe('Work Items that events of this trigger created.'),
  needs_decision: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .describe('Whether a person has to decide something: NEEDS_REVIEW or INDETERMINATE.'),
  created_after: givenTime.optional().describe('Created later than this time.'),
  created_before: givenTime.optional().describe('Created earlier than this time.'),
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
  callbacks: CallbackStore;
  /** Resolves to the addresses at which a person can see a trace of an agent. */
  traceLinks(
    executor: Executor,
    agentId: string,
    traceId: string,
  ): Promise<{ integration_id: string; description: string | null; url: string }[]>;
}

export const workItemRoutes = (db: Database, { traceLinks, callbacks }: WorkItemNeeds): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItem);

  const actionRoute = (action: Action): Route =>
    jsonRoute({
      id: `${action}WorkItem`,
      role: 'member',
      scope: 'work_items',
      base: 'v2',
      request: `POST ${path}/${action}`,
      ...actionTexts[action],
      otherStatuses: [412],
      find,
      ...(action === 'continue' ? { body: { schema: continueBody, optional: true } } : {}),
      response: publicWorkItem,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => toWorkItemResponse(await act(tx, found, action, actor, body))),
    });

  return [
    jsonRoute({
      id: 'listWorkItems',
      role: 'member',
      scope: 'work_items:read',
      request: 'GET /work-items',
      summary: 'List Work Items',
      query: offsetQuery
        .extend(filters.shape)
        .refine(
          ({ agent_id, agent_version }) => agent_version === undefined || agent_id !== undefined,
          versionNeedsAgent,
        ),
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
    jsonRoute({
      id: 'createWorkItem',
      role: 'member',
      scope: 'work_items',
      request: 'POST /work-items',
      summary: 'Create a Work Item',
      otherStatuses: [404],
      body: { schema: createBody, precheck: (body) => checkNewWorkItem(db, body) },
      response: publicWorkItem,
      idempotent: true,
      handler: ({ body, transaction, actor }) =>
        transaction(async (tx) => {
          const [made] = await createAll(tx, actor, callbacks, [body]);
          if (made instanceof ApiError) throw made;
          return made!;
        }),
    }),
    jsonRoute({
      id: 'getWorkItem',
      role: 'member',
      scope: 'work_items:read',
      request: `GET ${path}`,
      summary: 'Get a Work Item',
      find,
      response: publicWorkItem,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(revisionOf(found));
        return toWorkItemResponse(found);
      },
    }),
    ...changeRoutes(db, callbacks),
    ...bulkRoutes(db, callbacks),
    actionRoute('submit'),
    actionRoute('continue'),
    actionRoute('restart'),
    actionRoute('cancel'),
    actionRoute('complete'),
    jsonRoute({
      id: 'listWorkItemEvents',
      role: 'member',
      scope: 'work_items:read',
      base: 'v2',
      request: `GET ${path}/events`,
      summary: 'List the events of a Work Item',
      find,
      query: pageQuery,
      response: pageOf('WorkItemEventPage', publicEvent),
      handler: listPage(db, (executor, page, { found }) => listEvents(executor, found.id, page)),
    }),
    jsonRoute({
      id: 'listWorkItemMessages',
      role: 'member',
      scope: 'work_items:read',
      base: 'v2',
      request: `GET ${path}/messages`,
      summary: 'List the messages of a Work Item',
      find,
      query: pageQuery,
      response: pageOf('WorkItemMessagePage', publicMessage),
      handler: listPage(db, (executor, page, { found }) => listMessages(executor, found.id, page)),
    }),
    jsonRoute({
      id: 'getWorkItemTrace',
      role: 'member',
      scope: 'work_items:read',
      base: 'v2',
      request: `GET ${path}/trace`,
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
