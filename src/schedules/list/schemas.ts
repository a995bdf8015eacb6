import { z } from 'zod';
import { recentCostField } from '../../charges/index.ts';
import { id, jsonObject, pageOf, queryInteger, timestamp } from '../../http/index.ts';
import { overlaps } from '../fields.ts';
import { ledgerStatuses, occurrence, scheduleFilter, skipCause } from '../schemas.ts';
import { mostCounted, sorts } from './store.ts';

export const agentName = z.object({ id, name: z.string() }).meta({ id: 'AgentName' });

const upcoming = z
  .object({
    at: timestamp,
    local: z.string().describe('On the clocks of the zone, with its offset.'),
    dst: z.enum(['gap', 'overlap']).nullable(),
  })
  .meta({ id: 'UpcomingOccurrence' });

const recent = z
  .object({
    scheduled_for: timestamp,
    status: z.enum(ledgerStatuses),
    cause: skipCause,
    count: z.int(),
    work_item_id: z.string().nullable(),
  })
  .meta({ id: 'RecentOccurrence' });

export const listedSchedule = z
  .object({
    id,
    agent: agentName,
    work_item_name: z.string().nullable(),
    cron_expression: z.string(),
    timezone: z.string(),
    description: z.string().describe('The expression in words.'),
    enabled: z.boolean(),
    catch_up: z.boolean(),
    overlap: z.enum(overlaps),
    last_run_at: timestamp.nullable().describe('When it last fired; null if never.'),
    next_run_at: timestamp.nullable().describe('Next planned run; null while paused or blocked.'),
    created_at: timestamp,
    updated_at: timestamp,
    cost: recentCostField,
    last: occurrence.nullable().describe('The last record; null before the first.'),
    recent: z.array(recent).describe('The last 20 records, the latest first.'),
    upcoming: z.array(upcoming).describe('The next occurrences.'),
    paused: z
      .object({ at: timestamp.nullable(), by: z.string().nullable(), reason: z.string().nullable() })
      .nullable()
      .describe('By whom it is paused, since when and why; its fields are null if that was not recorded.'),
    blocked_reason: z.string().nullable().describe('Why it cannot fire, in sentences.'),
    overdue: z
      .object({ since: timestamp, reason: z.string() })
      .nullable()
      .describe('It has been due since then and has not fired, and why.'),
  })
  .meta({ id: 'ListedSchedule' });

export const listQuery = scheduleFilter.extend({
  ids: z
    .string()
    .max(8_000)
    .optional()
    .describe('Only these, separated by commas: to refresh rows that are shown.'),
  sort: z
    .enum(sorts)
    .default('next')
    .describe('`next`: those that are due first; `last`: those that fired last; `name`.'),
  limit: queryInteger(1, 200, 50),
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

export const listedPage = pageOf('ListedSchedulePage', listedSchedule)
  .extend({ total: z.int().describe(`How many match, at most ${mostCounted.toLocaleString('en')}.`) })
  .meta({ id: 'ListedSchedulePage' });

export const scheduleDetail = listedSchedule
  .extend({
    agent_id: z.string(),
    message: z.string(),
    payload: jsonObject,
    metadata: jsonObject,
    punctuality: z
      .object({
        from: timestamp,
        total: z.int().describe('Occurrences that were recorded since then.'),
        on_time: z.int(),
      })
      .describe('Of the last 30 days.'),
  })
  .meta({ id: 'ScheduleDetail' });
