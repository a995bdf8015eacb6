import { type Executor, type Page, selectPage, sql, type Tx } from '../database/index.ts';

type Outcome = 'fired' | 'caught_up' | 'skipped' | 'manual';

export interface OccurrenceRow {
  id: string;
  schedule_id: string;
  scheduled_for: Date;
  outcome: Outcome;
  work_item_id: string | null;
  at: Date;
  count: number;
  reason: string | null;
}

declare module '../database/database.ts' {
  interface Schema {
    occurrences: OccurrenceRow;
  }
}

/** Listed, because a named statement with `*` fails after a migration that adds a column. */
const columns = [
  'id',
  'schedule_id',
  'scheduled_for',
  'outcome',
  'work_item_id',
  'at',
  'count',
  'reason',
] as const satisfies readonly (keyof OccurrenceRow)[];

export const insertOccurrences = async (tx: Tx, rows: readonly OccurrenceRow[]): Promise<void> => {
  if (rows.length === 0) return;
  await sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
    select * from unnest(
      ${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.schedule_id)}::uuid[],
      ${rows.map((r) => r.scheduled_for)}::timestamptz[], ${rows.map((r) => r.outcome)}::text[],
      ${rows.map((r) => r.work_item_id)}::uuid[], ${rows.map((r) => r.at)}::timestamptz[],
      ${rows.map((r) => r.count)}::int[], ${rows.map((r) => r.reason)}::text[])`.execute(tx);
};

/** Newest first. */
export const listOccurrences = (
  executor: Executor,
  scheduleId: string,
  page: Page,
): Promise<OccurrenceRow[]> =>
  selectPage(executor.selectFrom('occurrences').select(columns).where('schedule_id', '=', scheduleId), page);

/**
 * What was recorded of the occurrences in (from, to], including rows of several together that only overlap it. Two
 * reads of two indexes, since such rows that begin before the span are few and the other rows before it are not.
 */
export const listRecordedOccurrences = async (
  executor: Executor,
  scheduleId: string,
  from: Date,
  to: Date,
): Promise<OccurrenceRow[]> => {
  const { rows } = await sql<OccurrenceRow>`
    select ${sql.join(columns.map(sql.ref))} from occurrences
      where schedule_id = ${scheduleId} and scheduled_for > ${from} and scheduled_for <= ${to} and outcome <> 'manual'
    union all
    select ${sql.join(columns.map(sql.ref))} from occurrences
      where schedule_id = ${scheduleId} and scheduled_for <= ${from} and at > ${from} and count > 1`.execute(
    executor,
  );
  return rows;
};

/** Deletes what happened more than `days` ago (0: nothing), at most `limit` rows. Returns how many. */
export const deleteOldOccurrences = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from occurrences where (schedule_id, id) in (
    select schedule_id, id from occurrences where at < platform_now() - ${days}::int * interval '1 day'
    order by at limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
