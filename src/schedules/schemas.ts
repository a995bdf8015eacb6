import { z } from 'zod';
import { id, optional, queryInteger, text, timestamp } from '../http/index.ts';
import { startAt, statuses as workItemStatuses } from '../work-items/index.ts';
import { scheduleStates } from './filter.ts';
import { lateAfterMs } from './lateness.ts';
import { outcomeFilters, outcomes } from './occurrence-store.ts';
import { schedules } from './store.ts';

const instant = z.iso.datetime({ offset: true });

const { cron_expression, timezone, ...shown } = schedules.shown;

export const publicSchedule = z
  .object({
    id,
    agent_id: z.string().describe('The Worker agent that owns the schedule.'),
    cron_expression,
    timezone,
    enabled: z.boolean().describe('Whether the schedule fires. Read-only through this API.'),
    ...shown,
    last_run_at: timestamp.nullable().describe('When it last fired; null if never.'),
    next_run_at: timestamp.nullable().describe('Next planned run; null while paused.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicSchedule' });

export const definition = z.object(schedules.create).meta({ id: 'ScheduleDefinition' });

export const occurrenceWorkItem = z
  .object({
    id,
    status: z.enum(workItemStatuses),
    attempts: z.int(),
    duration_ms: z.int().nullable().describe('How long its last attempt took; null unless it has ended.'),
    error: z.object({ code: z.string(), message: z.string().describe('At most 200 characters.') }).nullable(),
  })
  .meta({ id: 'OccurrenceWorkItem' });

export const ledgerStatuses = ['on_time', 'late', 'caught_up', 'skipped', 'manual'] as const;

export const skipCause = z
  .enum(['missed', 'paused', 'edited', 'overlap', 'blocked'])
  .nullable()
  .describe(
    'Why it was skipped: it was late beyond the grace, the schedule was paused or edited while it was due, a Work Item of the schedule was still running, or the schedule could not fire.',
  );

export const occurrence = z
  .object({
    scheduled_for: timestamp.describe('The nominal time; the first one if several were skipped together.'),
    outcome: z.enum(outcomes),
    status: z
      .enum(ledgerStatuses)
      .describe(
        `The outcome, but what fired is \`on_time\` (within ${lateAfterMs / 1000} s) or \`late\` (within the grace).`,
      ),
    work_item_id: z.string().nullable(),
    work_item: occurrenceWorkItem.nullable().describe('Null if there is none, or none any more.'),
    running_work_item_id: z
      .string()
      .optional()
      .describe('The Work Item that was still running; only if it was skipped with the cause `overlap`.'),
    at: timestamp.describe('When it was handled.'),
    lateness_ms: z.int(),
    count: z.int().describe('How many occurrences this record covers.'),
    cause: skipCause,
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it was skipped, late or caught up, in sentences with times of the zone of the schedule.',
      ),
    by: z.string().nullable().describe('Who ran it by hand.'),
  })
  .meta({ id: 'Occurrence' });

/** The query of a list of occurrences. */
export const occurrenceQuery = z.object({
  limit: queryInteger(1, 200, 50),
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
  from: instant.optional().describe('Nominal times after this.'),
  to: instant.optional().describe('Nominal times up to and including this.'),
  outcome: z.enum(outcomeFilters).optional(),
});

/** Filter of the schedules of all agents: the query of their list, and the filter of an action. */
export const scheduleFilter = z.object({
  q: z
    .string()
    .max(200)
    .optional()
    .describe('Part of the name of the schedule or its agent, or the beginning of its id.'),
  agent_id: z.string().optional(),
  state: z
    .enum(scheduleStates)
    .optional()
    .describe(
      '`blocked`: enabled, but no next time can be computed, or its last occurrence could not become a Work Item.',
    ),
  outcome: z.enum(outcomeFilters).optional().describe('Of its last occurrence.'),
  zone: z.string().optional(),
});

export const pauseBody = z.object({ reason: optional(text(1_000)) }).meta({ id: 'PauseScheduleBody' });

export const runBody = z.object({ start_at: startAt }).meta({ id: 'RunScheduleBody' });

export const previewBody = z
  .object({
    cron_expression: schedules.create.cron_expression,
    timezone: optional(schedules.fields.timezone.schema, 'UTC'),
    after: optional(instant).describe('Occurrences strictly after this; default now.'),
    count: optional(z.int().min(1).max(100), 10).describe('1 to 100, default 10.'),
  })
  .meta({ id: 'PreviewScheduleBody' });

export const timeZone = z
  .object({
    name: z.string(),
    offset: z.string().describe('At present: `+02:00`.'),
    next_transition: z
      .object({ at: timestamp, offset: z.string().describe('From then on.') })
      .nullable()
      .describe('Null if no change of the clock is planned.'),
  })
  .meta({ id: 'TimeZone' });

export const previewResponse = z
  .object({
    occurrences: z.array(
      z.object({ at: timestamp, local: z.string(), dst: z.enum(['gap', 'overlap']).nullable() }),
    ),
    description: z.string().describe('The expression in words.'),
    per_day: z.number().describe('Firings a day, on average over four years.'),
    per_year: z.int().describe('Firings in the 365 days after `after`.'),
    skipped_local_times: z
      .array(
        z.object({
          local: z.string().describe('Without an offset, because the clock never shows it.'),
          at: timestamp.nullable().describe('When the schedule fires for it; null if it does not.'),
        }),
      )
      .describe('The local times in those 365 days that the clock skips, at most 100.'),
    zone: timeZone,
  })
  .meta({ id: 'SchedulePreview' });
