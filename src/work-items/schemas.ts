import { z } from 'zod';
import { newCallbacks, publicCallback } from '../callbacks/index.ts';
import { id, jsonObject, jsonValue, optional, text, timestamp } from '../http/index.ts';
import { messageRoles } from './messages.ts';
import { changedStartAt, startAt } from './start.ts';
import { actionNames, allowedActions, statuses } from './states.ts';
import type { WorkItem } from './store.ts';

export const status = z.enum(statuses);

export const message = text(10_000);

export const createBody = z
  .object({
    agent_id: id,
    message: optional(message, ''),
    payload: optional(jsonObject, {}),
    work_item_name: optional(text(200), null),
    start_at: startAt,
    draft: optional(z.boolean(), false).describe('It stays a DRAFT until it is submitted.'),
    callbacks: optional(newCallbacks, []).describe(
      'Who is notified of it, in addition to the callbacks of its agent.',
    ),
  })
  .meta({ id: 'CreateWorkItemBody' });

export type NewWorkItemBody = z.output<typeof createBody>;

export const changeBody = z
  .object({
    agent_id: id.optional().describe('Only the one that it has.'),
    message: message.optional(),
    payload: jsonObject.optional(),
    work_item_name: text(200).nullable().optional(),
    start_at: changedStartAt,
  })
  .meta({ id: 'UpdateWorkItemBody' });

export type ChangeBody = z.output<typeof changeBody>;

const tokens = z.int().min(0);

/** What all attempts of a run used. */
export const runUsage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cached_input_tokens: tokens,
  reasoning_tokens: tokens,
  model_calls: tokens,
  tool_calls: tokens,
});

export const usage = runUsage.meta({ id: 'WorkItemUsage' });

const noUsage: z.output<typeof usage> = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 0,
  tool_calls: 0,
};

export const pendingApproval = z
  .object({
    approval_id: z.string(),
    kind: z.enum(['tool_call', 'question', 'unknown_outcome']),
    tool_name: z.string().nullable(),
    tool_server_id: z.string().nullable(),
    arguments: jsonObject.nullable(),
    input_schema: jsonObject.nullable(),
    reason: z.string().nullable(),
    requested_at: timestamp,
    expires_at: z.null(),
  })
  .meta({ id: 'PendingApproval' });

const decision = z
  .object({
    approval_id: z.string(),
    decision: z.enum(['approve', 'deny']),
    arguments: optional(jsonObject).describe('Instead of those that the model gave; only with `approve`.'),
    reason: optional(text(2_000)).describe('The model is told why a call was denied.'),
  })
  .meta({ id: 'Decision' });

/** What a person decided on `pending_approvals`. */
export const decisionList = z.array(decision).max(1_000);

export const publicWorkItem = z
  .object({
    id,
    agent_id: id.describe('The Worker agent that executes it. The Work Item outlives it.'),
    schedule_id: id.nullable().describe('The schedule that created it; null if none did.'),
    scheduled_for: timestamp
      .nullable()
      .describe('The nominal time of the occurrence that it is for; null if no schedule fired it.'),
    work_item_name: z.string().nullable(),
    message: z.string(),
    payload: jsonObject,
    status,
    allowed_actions: z.array(z.enum(actionNames)).describe('The actions that its status allows.'),
    result: jsonValue.describe('The reply of the agent; null before.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    review_reason: z.string().nullable().describe('Why it waits for a person; null unless it does.'),
    pending_approvals: z.array(pendingApproval).describe('What a person is asked to decide.'),
    model: z.string().nullable().describe('The model that replied last; null before.'),
    usage: usage.nullable().describe('What all attempts used; null before the first.'),
    attempts: z.int().describe('Attempts that began since it was created, continued or restarted.'),
    created_by: z
      .string()
      .describe(
        'The id of the person, or of the first API key of the service account; `scheduler` if a schedule fired it.',
      ),
    created_at: timestamp,
    updated_at: timestamp,
    start_at: timestamp
      .nullable()
      .describe('The time at which it was to start; until then it waits as PENDING. null if none was given.'),
    started_at: timestamp.nullable().describe('When the current or last attempt began.'),
    finished_at: timestamp.nullable(),
    cancel_requested_at: timestamp
      .nullable()
      .describe('When a cancel was requested while it executed; null otherwise.'),
    callbacks: z.array(publicCallback).describe('Its own callbacks, without those of its agent.'),
    files: z.array(jsonObject),
  })
  .meta({ id: 'PublicWorkItem' });

/** The usage so far with all its numbers; null if there is none. */
export const toUsage = (stored: WorkItem['usage']): z.output<typeof usage> | null =>
  stored && { ...noUsage, ...stored };

/** `usage` and `more` together. */
export const addUsage = (
  stored: WorkItem['usage'],
  more: Partial<z.output<typeof usage>>,
): z.output<typeof usage> => {
  const before = toUsage(stored) ?? noUsage;
  const names = Object.keys(noUsage) as (keyof typeof noUsage)[];
  return Object.fromEntries(names.map((name) => [name, before[name] + (more[name] ?? 0)])) as z.output<
    typeof usage
  >;
};

/** The response schema leaves out what it does not name. */
export const toWorkItemResponse = (item: WorkItem): z.input<typeof publicWorkItem> => ({
  ...item,
  scheduled_for: item.occurrence,
  allowed_actions: allowedActions(item.status, item.agent_exists),
  usage: toUsage(item.usage),
  pending_approvals: item.pending_approvals ?? [],
  callbacks: item.callbacks ?? [],
  files: [],
});

export const publicEvent = z
  .object({
    id,
    from: status.nullable().describe('null for the creation.'),
    to: status,
    action: z.string(),
    principal: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
    at: timestamp,
    details: jsonObject,
  })
  .meta({ id: 'WorkItemEvent' });

export const messagePart = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'TextPart' }),
    z
      .object({
        type: z.literal('tool_call'),
        tool_call_id: z.string(),
        tool_name: z.string(),
        arguments: jsonValue.describe('What the model passes to the tool.'),
      })
      .meta({ id: 'ToolCallPart' }),
    z
      .object({
        type: z.literal('tool_result'),
        tool_call_id: z.string().describe('The `tool_call_id` of the call.'),
        tool_name: z.string(),
        text: z.string(),
        is_error: z.boolean().describe('The call failed; `text` is what the model received.'),
        executed_arguments: jsonObject
          .optional()
          .describe('What the tool was called with; only where a person changed the arguments.'),
      })
      .meta({ id: 'ToolResultPart' }),
  ])
  .meta({ id: 'MessagePart' });

export const publicMessage = z
  .object({
    id,
    conversation_id: id.describe('A restart begins a new conversation.'),
    role: z.enum(messageRoles),
    content: z.array(messagePart),
    created_at: timestamp,
  })
  .meta({ id: 'WorkItemMessage' });

export const publicTrace = z
  .object({
    trace_id: z.string().nullable().describe('32 hex digits; null before the first attempt.'),
    links: z
      .array(
        z.object({
          integration_id: z.string(),
          description: z.string().nullable(),
          url: z.string().describe('Where the trace can be seen.'),
        }),
      )
      .describe('One for each integration that can build one.'),
  })
  .meta({ id: 'WorkItemTrace' });
