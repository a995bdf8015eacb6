import { z } from 'zod';
import { id, jsonObject, optional, text, timestamp } from '../http/index.ts';
import type { OccurrenceRow } from './occurrence-store.ts';

export const publicSchedule = z
  .object({
    id,
    agent_id: z.string().describe('The Worker agent that owns the schedule.'),
    cron_expression: z.string().describe('Standard 5-field cron expression.'),
    timezone: z.string().describe('IANA timezone in which the cron expression is evaluated.'),
    enabled: z.boolean().describe('Whether the schedule fires. Read-only through this API.'),
    catch_up: z
      .boolean()
      .describe(
        'When an occurrence is missed (for example during downtime), run once, then advance to the next.',
      ),
    work_item_name: z.string().nullable().describe('Name given to created Work Items.'),
    message: z.string().describe('Message included in each created Work Item.'),
    payload: jsonObject.describe('Payload included in each created Work Item.'),
    metadata: jsonObject.describe('Free-form metadata (the application keeps its picker UI state here).'),
    last_run_at: timestamp.nullable().describe('When it last fired; null if never.'),
    next_run_at: timestamp.nullable().describe('Next planned run; null while paused.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicSchedule' });

const expression = z.string().meta({
  description: '5-field cron: minute, hour, day of month, month, day of week.',
  openapi: { type: 'string', minLength: 1, maxLength: 1_000, examples: ['0 9 * * MON-FRI'] },
});
const zone = z.string().meta({ openapi: { type: 'string', minLength: 1, examples: ['Europe/Berlin'] } });

export const definition = z
  .object({
    cron_expression: expression,
    timezone: optional(zone, 'UTC').describe('IANA name; default UTC.'),
    catch_up: optional(z.boolean(), true).describe('Default true.'),
    work_item_name: optional(text(200), null),
    message: optional(text(10_000), '').describe('At most 10,000 characters.'),
    payload: optional(jsonObject, {}),
    metadata: optional(jsonObject, {}),
  })
  .meta({ id: 'ScheduleDefinition' });

export const occurrence = z
  .object({
    scheduled_for: timestamp.describe('The nominal time; the first one if several were skipped together.'),
    outcome: z.enum(['fired', 'caught_up', 'skipped', 'manual']),
    work_item_id: z.string().nullable(),
    at: timestamp.describe('When it was handled.'),
    lateness_ms: z.int(),
    count: z.int().describe('How many occurrences this record covers.'),
    reason: z.string().nullable().describe('Why it was skipped.'),
  })
  .meta({ id: 'Occurrence' });

export const toOccurrenceResponse = (row: OccurrenceRow) => ({
  ...row,
  lateness_ms: row.at.getTime() - row.scheduled_for.getTime(),
});

export const pauseBody = z.object({ reason: optional(text(1_000)) }).meta({ id: 'PauseScheduleBody' });

export const previewBody = z
  .object({
    cron_expression: expression,
    timezone: optional(zone, 'UTC'),
    after: optional(z.iso.datetime({ offset: true })).describe(
      'Occurrences strictly after this; default now.',
    ),
    count: optional(z.int().min(1).max(100), 10).describe('1 to 100, default 10.'),
  })
  .meta({ id: 'PreviewScheduleBody' });

export const previewResponse = z
  .object({
    occurrences: z.array(
      z.object({ at: timestamp, local: z.string(), dst: z.enum(['gap', 'overlap']).nullable() }),
    ),
    description: z.string().describe('The expression in words.'),
  })
  .meta({ id: 'SchedulePreview' });
