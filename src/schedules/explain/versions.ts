import { describeCron } from '@agent-platform/cron';
import { z } from 'zod';
import { databaseNow, type Executor } from '../../database/index.ts';
import { positionCursor, readPosition, sortedPage, timestamp } from '../../http/index.ts';
import { LocalClock } from '../../lib/times.ts';
import { definitionActions, type HistoryRow, listHistory, listVersionsBetween } from '../definition-store.ts';
import { overlaps } from '../fields.ts';
import type { ScheduleRow } from '../store.ts';
import { historyText } from './verdicts.ts';

export const definitionVersion = z
  .object({
    revision: z.int(),
    at: timestamp.describe('It holds for what is due after this.'),
    action: z.enum(definitionActions).nullable().describe('Null if it was not recorded, like `by`.'),
    by: z.object({ kind: z.string(), id: z.string(), name: z.string() }).nullable(),
    reason: z.string().nullable().describe('In the words of who did it.'),
    cron_expression: z.string(),
    timezone: z.string(),
    description: z.string().describe('The expression in words.'),
    enabled: z.boolean(),
    catch_up: z.boolean().nullable().describe('Null if it was not recorded.'),
    overlap: z.enum(overlaps).nullable().describe('Null if it was not recorded.'),
    changed: z.array(z.string()).nullable().describe('The fields that an update changed.'),
    text: z.string().describe('What changed, in a sentence.'),
  })
  .meta({ id: 'ScheduleVersion' });

type Version = z.input<typeof definitionVersion>;
type Owner = Pick<ScheduleRow, 'id' | 'timezone'>;

/** An expression in words; as it is if it is not understood any more. */
export const inWords = (expression: string): string => {
  try {
    return describeCron(expression);
  } catch {
    return expression;
  }
};

/** Describes each row, newest first, by what it changed of the next one. */
const toVersion = async (
  executor: Executor,
  { timezone }: Owner,
  rows: readonly HistoryRow[],
): Promise<(row: HistoryRow) => Version> => {
  const clock = new LocalClock(timezone, await databaseNow(executor));
  const older = new Map(rows.map((row, n) => [row, rows[n + 1]]));
  return (row) => {
    const { schedule_id: _, from_at, principal, ...rest } = row;
    return {
      ...rest,
      at: from_at,
      by: principal,
      description: inWords(row.cron_expression),
      text: historyText(row, older.get(row), clock),
    };
  };
};

/** Returns a page of the versions of a schedule, newest first. */
export const pageOfVersions = async (
  executor: Executor,
  schedule: Owner,
  { limit, next }: { limit: number; next?: string | undefined },
) => {
  const position = readPosition(next, 'revision', ['time']);
  // The last one of the page is described by what it changed of the one before it.
  const before = position?.[0] ?? null;
  const rows = await listHistory(executor, schedule.id, { limit: limit + 1, before });
  return sortedPage(
    rows,
    limit,
    (row) => positionCursor('revision', [row.revision]),
    await toVersion(executor, schedule, rows),
  );
};

/** The most changes in one page of occurrences. */
const mostChanges = 100;

/**
 * Returns the versions that began between the occurrences of a page, newest first. Those that began after the last
 * occurrence belong to the first page, and those that began before the first one to the last page.
 */
export const changesAmong = async (
  executor: Executor,
  schedule: Owner,
  query: { next?: string | undefined; from?: string | undefined; to?: string | undefined },
  page: { data: readonly { scheduled_for: Date }[]; has_more: boolean },
): Promise<Version[]> => {
  const [newer] = readPosition(query.next, 'scheduled_for', ['time', 'id']) ?? [];
  const upper = newer ?? query.to;
  const lower = page.has_more ? page.data.at(-1)?.scheduled_for : query.from;
  const rows = await listVersionsBetween(executor, schedule.id, {
    from: lower === undefined ? null : new Date(lower),
    to: upper === undefined || upper === null ? null : new Date(upper),
    limit: mostChanges,
  });
  const oldest = rows.at(-1);
  const before = oldest
    ? await listHistory(executor, schedule.id, { limit: 1, before: oldest.revision })
    : [];
  return rows.map(await toVersion(executor, schedule, [...rows, ...before]));
};
