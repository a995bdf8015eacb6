import { z } from 'zod';
import { id, jsonObject, jsonValue, timestamp } from '../http/index.ts';
import { messageRoles } from './messages.ts';
import { actionNames, allowedActions, statuses } from './states.ts';
import type { WorkItem } from './store.ts';

export const status = z.enum(statuses);

export const publicWorkItem = z
  .object({
    id,
    agent_id: id.describe('The Worker agent that executes it. The Work Item outlives it.'),
    schedule_id: id.nullable().describe('The schedule that created it; null if none did.'),
    work_item_name: z.string().nullable(),
    message: z.string(),
    payload: jsonObject,
    status,
    allowed_actions: z.array(z.enum(actionNames)).describe('The actions that its status allows.'),
    result: jsonValue.describe('The reply of the agent; null before.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
    attempts: z.int().describe('Attempts that began since it was created, continued or restarted.'),
    created_by: z.string().describe('The id of the API key or person; `scheduler` if a schedule fired it.'),
    created_at: timestamp,
    updated_at: timestamp,
    started_at: timestamp.nullable().describe('When the current or last attempt began.'),
    finished_at: timestamp.nullable(),
    cancel_requested_at: timestamp
      .nullable()
      .describe('When a cancel was requested while it executed; null otherwise.'),
  })
  .meta({ id: 'PublicWorkItem' });

/** The response schema leaves out what it does not name. */
export const toWorkItemResponse = (item: WorkItem): z.input<typeof publicWorkItem> => ({
  ...item,
  allowed_actions: allowedActions(item.status, item.agent_exists),
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

const messagePart = z
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
