import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import type { Watcher } from '../event-streams/index.ts';
import {
  IdempotentReplay,
  id,
  jsonObject,
  jsonValue,
  optional,
  requestHash,
  text,
  withIdempotencyKey,
} from '../http/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { notFound } from '../lib/errors.ts';
import { statuses, type WorkItem, workItemCalls } from '../work-items/index.ts';
import { type Tool, type ToolCall, tool, waitSeconds } from './tools.ts';

const status = z.enum(statuses);
const message = text(10_000);

const output = z.object({
  work_item_id: id,
  status,
  allowed_actions: z.array(z.enum(workItemCalls.actionNames)).describe('The actions that its status allows.'),
  result: jsonValue.describe('The reply of the agent; null before.'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  review_reason: z.string().nullable().describe('Why it waits for a person; null unless it does.'),
});

const toOutput = (item: WorkItem): z.input<typeof output> => ({
  work_item_id: item.id,
  status: item.status,
  allowed_actions: workItemCalls.allowedActions(item.status, item.agent_exists),
  result: item.result ?? null,
  error: item.error,
  review_reason: item.review_reason,
});

const workItemId = z.object({ work_item_id: z.string() });

const createInput = z.object({
  message: optional(message, '').describe('What the agent has to do.'),
  payload: optional(jsonObject, {}).describe('Data for the agent, as a JSON object.'),
  work_item_name: optional(text(200), null).describe('A name for people.'),
  idempotency_key: optional(
    z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters'),
  ).describe('A call with the same key within 24 hours returns the same Work Item instead of a new one.'),
  wait_seconds: waitSeconds(0),
});

export interface WorkItemToolParts {
  db: Database;
  vault: Vault;
  /** Wakes those who wait for the end of a Work Item. */
  watcher: Watcher;
}

/** The tools of a Worker agent, by the rules of Work Items. Approvals are decided in the platform, never here. */
export const workItemTools = ({ db, vault, watcher }: WorkItemToolParts): Tool[] => {
  /** Returns the agent's Work Item. Throws 404 for that of another agent as well. */
  const ownItem = async ({ agent }: ToolCall, itemId: string): Promise<WorkItem> => {
    const item = await db.run((executor) => workItemCalls.get(executor, itemId));
    if (item.agent_id !== agent.id) throw notFound('Work Item');
    return item;
  };

  const waited = async (call: ToolCall, itemId: string, seconds: number) => {
    const read = () => ownItem(call, itemId);
    const isDone = ({ status }: WorkItem) => status !== 'PENDING' && status !== 'EXECUTING';
    return toOutput(await watcher.readUntil(itemId, read, isDone, { seconds, signal: call.signal }));
  };

  const create = async (
    { agent, actor, depth }: ToolCall,
    { idempotency_key: key, wait_seconds: _, ...fields }: z.output<typeof createInput>,
  ): Promise<string> => {
    const { principal } = actor;
    const { message, payload, work_item_name: workItemName } = fields;
    const hash = requestHash('create_work_item', { agent_id: agent.id }, fields);
    try {
      return await db.tx(async (tx) => {
        const insert = async (): Promise<string> => {
          const item = { agentId: agent.id, scheduleId: null, workItemName, message, payload };
          const made = await workItemCalls.create(tx, { ...item, draft: false, principal, depth });
          await audit(tx, actor, 'work_item.create', made.id, { agent_id: agent.id, status: made.status });
          return made.id;
        };
        if (key === undefined) return insert();
        const request = { principalId: principal.id, key, hash };
        return withIdempotencyKey(tx, vault, request, insert, (body) => ({ body, etag: null }));
      });
    } catch (error) {
      if (error instanceof IdempotentReplay) return error.response.body as string;
      throw error;
    }
  };

  return [
    tool({
      name: 'create_work_item',
      title: 'Create a Work Item',
      description:
        'Gives the agent something to do. It works in the background: wait for the end with wait_seconds, or look later with get_work_item.',
      scope: 'work_items',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      input: createInput,
      output,
      run: async (call, args) => {
        await workItemCalls.checkPayloadSize(db, args.payload);
        return waited(call, await create(call, args), args.wait_seconds);
      },
    }),
    tool({
      name: 'get_work_item',
      title: 'Get a Work Item',
      description:
        'Returns what became of a Work Item. It is at its end if status is not PENDING or EXECUTING.',
      scope: 'work_items:read',
      annotations: { readOnlyHint: true },
      input: workItemId.extend({ wait_seconds: waitSeconds(0) }),
      output,
      run: async (call, { work_item_id, wait_seconds }) => {
        await ownItem(call, work_item_id);
        return waited(call, work_item_id, wait_seconds);
      },
    }),
    tool({
      name: 'list_work_items',
      title: 'List Work Items',
      description: 'Returns the Work Items of the agent, newest first.',
      scope: 'work_items:read',
      annotations: { readOnlyHint: true },
      input: z.object({
        status: optional(status).describe('Only those with this status.'),
        limit: optional(z.int().min(1).max(50), 20),
      }),
      output: z.object({
        work_items: z.array(output),
        total_count: z.int().describe('The number of Work Items that match.'),
      }),
      run: async ({ agent }, { status, limit }) => {
        const filter = { agent_id: agent.id, ...(status === undefined ? {} : { status }) };
        const { items, total } = await db.run((executor) =>
          workItemCalls.list(executor, filter, { limit, offset: 0 }),
        );
        return { work_items: items.map(toOutput), total_count: total };
      },
    }),
    tool({
      name: 'continue_work_item',
      title: 'Continue a Work Item',
      description:
        'Says something to a Work Item that is NEEDS_REVIEW, INDETERMINATE or ERROR, and lets the agent go on. It is refused while tool calls wait for approval: only people decide on them, in the platform.',
      scope: 'work_items',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      input: workItemId.extend({ message: text(10_000, 1) }),
      output,
      run: async (call, { work_item_id, message }) => {
        const item = await ownItem(call, work_item_id);
        return toOutput(
          await db.tx((tx) =>
            workItemCalls.act(tx, item, 'continue', call.actor, { message, mustNotDecide: true }),
          ),
        );
      },
    }),
    tool({
      name: 'cancel_work_item',
      title: 'Cancel a Work Item',
      description: 'Cancels a Work Item. If it is EXECUTING, it is cancelled within 30 seconds.',
      scope: 'work_items',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      input: workItemId,
      output,
      run: async (call, { work_item_id }) => {
        const item = await ownItem(call, work_item_id);
        return toOutput(await db.tx((tx) => workItemCalls.act(tx, item, 'cancel', call.actor)));
      },
    }),
  ];
};
