import { z } from 'zod';
import { costFields } from '../../charges/index.ts';
import { id, timestamp } from '../../http/index.ts';
import { wholeUsage } from '../../lib/usage.ts';
import { usage } from '../schemas.ts';
import { sourceOf, sources } from '../search/conditions.ts';
import { actionNames, allowedActions, statuses } from '../states.ts';
import type { WorkItemRow } from './row-store.ts';
import { type QueueFacts, waitingOf, waitingSchema } from './waiting.ts';

/** Fields that a list and the page of a Work Item both show besides the fields of the Work Item itself. */
export const joinedFields = {
  agent: z
    .object({ id, name: z.string().nullable().describe('null if it was deleted.'), exists: z.boolean() })
    .meta({ id: 'WorkItemAgent' }),
  schedule: z
    .object({
      id,
      name: z.string().nullable().describe('The name that it gives to its Work Items.'),
      exists: z.boolean().describe('false if it was deleted.'),
    })
    .nullable()
    .meta({ id: 'WorkItemSchedule' }),
  trigger: z
    .object({
      id,
      name: z.string().nullable().describe('null if it was deleted.'),
      exists: z.boolean(),
    })
    .nullable()
    .meta({ id: 'WorkItemTrigger' }),
  occurrence_id: z
    .string()
    .nullable()
    .describe('The entry of its event in the ledger of the trigger; null if no event created it.'),
  source: z
    .enum(sources)
    .describe(
      '`schedule`: a schedule at its time. `trigger`: a trigger for an event. `person`: with a session or a personal key. `api`: the key of a service account.',
    ),
  created_by_name: z
    .string()
    .nullable()
    .describe('The person or key, as it was called then; null for a schedule.'),
  lateness_ms: z.int().nullable().describe('From the nominal time to its creation; null without one.'),
  duration_ms: z
    .int()
    .nullable()
    .describe('From the start of the last attempt to the end; null until it is finished, and if none began.'),
  max_attempts: z.int().nullable().describe('Of the agent; null if that was deleted.'),
  waiting: waitingSchema
    .nullable()
    .describe('Why it does not execute, and until when; null if it does not wait.'),
};

export const listedWorkItem = z
  .object({
    id,
    work_item_name: z.string().nullable(),
    status: z.enum(statuses),
    allowed_actions: z.array(z.enum(actionNames)).describe('The actions that its status allows.'),
    ...joinedFields,
    scheduled_for: timestamp
      .nullable()
      .describe('The nominal time of the occurrence; null if no schedule fired it.'),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp.describe('When its status was last changed.'),
    start_at: timestamp.nullable().describe('The time at which it was to start; null if none was given.'),
    started_at: timestamp.nullable().describe('When the current or last attempt began.'),
    finished_at: timestamp.nullable(),
    cancel_requested_at: timestamp.nullable(),
    attempts: z.int().describe('Attempts that began since it was created, continued or restarted.'),
    model: z.string().nullable(),
    usage: usage.nullable(),
    ...costFields,
    error: z.object({ code: z.string(), message: z.string().describe('At most 200 characters.') }).nullable(),
  })
  .meta({ id: 'ListedWorkItem' });

const msBetween = (from: Date | null, to: Date | null): number | null =>
  from && to && to.getTime() - from.getTime();

/** The fields that a list and the page of a Work Item both show. */
export const joinedOf = (row: WorkItemRow, queue: QueueFacts | null) => ({
  agent: { id: row.agent_id, name: row.agent_name, exists: row.agent_exists },
  schedule:
    row.schedule_id === null
      ? null
      : { id: row.schedule_id, name: row.schedule_name, exists: row.schedule_exists },
  trigger:
    row.trigger_id === null
      ? null
      : { id: row.trigger_id, name: row.trigger_name, exists: row.trigger_name !== null },
  occurrence_id: row.occurrence_id,
  source: sourceOf(row),
  created_by_name: row.creator_name,
  lateness_ms: msBetween(row.occurrence, row.created_at),
  duration_ms: msBetween(row.started_at, row.finished_at),
  max_attempts: row.max_attempts,
  waiting: waitingOf(row, queue),
});

/** The response schema leaves out what it does not name. */
export const toListed = (row: WorkItemRow, queue: QueueFacts | null): z.input<typeof listedWorkItem> => ({
  ...row,
  ...joinedOf(row, queue),
  scheduled_for: row.occurrence,
  allowed_actions: allowedActions(row.status, row.agent_exists),
  usage: wholeUsage(row.usage),
});
