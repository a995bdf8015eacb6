import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { idList, jsonRoute, optional, type Route, text } from '../http/index.ts';
import { badRequest, unprocessable } from '../lib/errors.ts';
import { actOnSchedules, type BulkAction, mostSchedules, scheduleActions, tryAction } from './actions.ts';
import { scheduleFilter } from './schemas.ts';

const body = z
  .object({
    action: z.enum(scheduleActions),
    ids: optional(idList).describe('Which schedules; this or `filter`.'),
    filter: optional(scheduleFilter.meta({ id: 'ScheduleFilter' })).describe(
      `All that match, at most ${mostSchedules.toLocaleString('en')}; an empty filter matches all.`,
    ),
    expected_count: optional(z.int().min(0)).describe(
      'How many you have seen to match; if it is another number, nothing changes (412). Required with `filter`, unless `dry_run` is set.',
    ),
    reason: optional(text(1_000)).describe('Why; it is shown in the history.'),
    dry_run: optional(z.boolean(), false).describe('Says what would change, and changes nothing.'),
  })
  .meta({ id: 'ActOnSchedulesBody' });

const result = z
  .object({
    dry_run: z.boolean(),
    matched: z.int().describe('How many of the schedules exist and match.'),
    would_change: z.int().describe('How many of them the action changes, or would change.'),
    changed: z.int().describe('0 in a dry run.'),
    refused: z
      .array(z.object({ id: z.string(), reason: z.string() }))
      .describe('The others, each with a sentence that says why.'),
  })
  .meta({ id: 'ActOnSchedulesResult' });

const readAction = (given: z.output<typeof body>): BulkAction => {
  const { action, ids, filter, expected_count, reason, dry_run } = given;
  if (ids && filter)
    throw unprocessable([{ path: 'filter', message: 'must not be there together with `ids`' }]);
  if (!ids && !filter) throw badRequest('ids: is required, or `filter`.');
  if (filter && expected_count === undefined && !dry_run) {
    throw badRequest('expected_count: is required with `filter`: how many schedules you have seen to match.');
  }
  return {
    action,
    ids: ids ?? null,
    filter: filter ?? null,
    expectedCount: expected_count ?? null,
    reason: reason ?? null,
  };
};

export const actionRoutes = (db: Database): Route[] => [
  jsonRoute({
    id: 'actOnSchedules',
    role: 'builder',
    scope: 'schedules',
    base: 'app',
    request: 'POST /schedules/actions',
    summary: 'Act on schedules',
    description: 'Pauses, resumes or deletes those of the schedules that allow it, all at once.',
    otherStatuses: [412],
    body,
    response: result,
    idempotent: true,
    handler: async ({ body: given, transaction, actor }) => {
      const bulk = readAction(given);
      const { dry_run } = given;
      if (dry_run) {
        return { ...(await db.run((executor) => tryAction(executor, bulk))), dry_run, changed: 0 };
      }
      return transaction(async (tx) => {
        const done = await actOnSchedules(tx, actor, bulk);
        return { ...done, dry_run, changed: done.would_change };
      });
    },
  }),
];
