import { z } from 'zod';
import { changedCallbacks, newCallbacks, publicCallback } from '../callbacks/index.ts';
import { costFields } from '../charges/index.ts';
import { id, jsonObject, jsonValue, optional, optionalQueryInteger, text, timestamp } from '../http/index.ts';
import { runUsage, wholeUsage } from '../lib/usage.ts';
import { messagePart, messageRoles } from '../messages/index.ts';
import { pendingApproval, shownApprovals } from '../runs/index.ts';
import { changedStartAt, startAt } from './start.ts';
import { actionNames, allowedActions, statuses } from './states.ts';
import type { WorkItem } from './store.ts';

export const status = z.enum(statuses);

export const message = text(10_000);

/** Versions are numbered for each agent: a filter by one names the agent. */
export const versionFilter = optionalQueryInteger(1, 2_000_000_000).describe(
  'Work Items that this version of the agent executes. Requires one `agent_id`.',
);

export const versionNeedsAgent = {
  path: ['agent_version'],
  message: 'requires one `agent_id`: versions are numbered for each agent',
};

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
    callbacks: changedCallbacks.optional().describe('Replaces all of its own callbacks.'),
  })
  .meta({ id: 'UpdateWorkItemBody' });

export type ChangeBody = z.output<typeof changeBody>;

export const usage = runUsage.meta({ id: 'WorkItemUsage' });

export const publicWorkItem = z
  .object({
    id,
    agent_id: id.describe('The Worker agent that executes it. The Work Item outlives it.'),
    agent_version: z
      .int()
      .nullable()
      .describe('The version of the agent that executes it; null before the first claim.'),
    schedule_id: id.nullable().describe('The schedule that created it; null if none did.'),
    scheduled_for: timestamp
      .nullable()
      .describe('The nominal time of the occurrence that it is for; null if no schedule fired it.'),
    trigger_id: id.nullable().describe('The trigger whose event created it; null if none did.'),
    occurrence_id: id.nullable().describe('The entry of that event in the ledger of the trigger.'),
    work_item_name: z.string().nullable(),
    message: z.string(),
    payload: jsonObject,
    status,
    allowed_actions: z.array(z.enum(actionNames)).describe('The actions that its status allows.'),
    result: jsonValue.describe('The reply of the agent; null before.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    review_reason: z.string().nullable().describe('Why it waits for a person; null unless it does.'),
    review_id: id.nullable().describe('The review that waits for a person; null unless one does.'),
    pending_approvals: z.array(pendingApproval).describe('What a person is asked to decide.'),
    model: z.string().nullable().describe('The model that replied last; null before.'),
    usage: usage.nullable().describe('What all attempts used; null before the first.'),
    ...costFields,
    attempts: z.int().describe('Attempts that began since it was created, continued or restarted.'),
    created_by: z
      .string()
      .describe(
        'The id of the person, or of the first API key of the service account; `scheduler` if a schedule fired it, `trigger` if an event did.',
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

/** The response schema leaves out what it does not name. */
export const toWorkItemResponse = (item: WorkItem): z.input<typeof publicWorkItem> => ({
  ...item,
  scheduled_for: item.occurrence,
  allowed_actions: allowedActions(item.status, item.agent_exists),
  usage: wholeUsage(item.usage),
  review_id: item.open_review?.id ?? null,
  pending_approvals: shownApprovals(item.pending_approvals, item.open_review),
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
