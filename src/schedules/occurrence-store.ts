import { type Executor, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { lateRows } from './lateness.ts';

export const outcomes = ['fired', 'caught_up', 'skipped', 'manual'] as const;
type Outcome = (typeof outcomes)[number];

/** Filters of a list of occurrences: an outcome, or whether one that fired was on time. */
export const outcomeFilters = [...outcomes, 'on_time', 'late'] as const;
export type OutcomeFilter = (typeof outcomeFilters)[number];

/** The condition of a filter on `occurrences`. */
const hasOutcome = (filter: OutcomeFilter): RawBuilder<unknown> => {
  if (filter === 'on_time') return sql`outcome = 'fired' and not ${lateRows}`;
  return filter === 'late' ? sql`outcome = 'fired' and ${lateRows}` : sql`outcome = ${sql.lit(filter)}`;
};

export interface OccurrenceRow {
  id: string;
  schedule_id: string;
  scheduled_for: Date;
  outcome: Outcome;
  work_item_id: string | null;
  at: Date;
  count: number;
  reason: string | null;
  /** The Work Item because of which it was skipped; null or left out for any other. */
  running_work_item_id?: string | null;
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
  'running_work_item_id',
] as const satisfies readonly (keyof OccurrenceRow)[];

export const insertOccurrences = async (tx: Tx, rows: readonly OccurrenceRow[]): Promise<void> => {
  if (rows.length === 0) return;
  await sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason,
      running_work_item_id)
    select * from unnest(
      ${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.schedule_id)}::uuid[],
      ${rows.map((r) => r.scheduled_for)}::timestamptz[], ${rows.map((r) => r.outcome)}::text[],
      ${rows.map((r) => r.work_item_id)}::uuid[], ${rows.map((r) => r.at)}::timestamptz[],
      ${rows.map((r) => r.count)}::int[], ${rows.map((r) => r.reason)}::text[],
      ${rows.map((r) => r.running_work_item_id ?? null)}::uuid[])`.execute(tx);
};

export interface OccurrenceQuery {
  limit: number;
  /** Nominal times after this, and up to this. */
  from: Date | null;
  to: Date | null;
  outcome: OutcomeFilter | null;
  /** Last occurrence of the previous page. */
  before: { scheduled_for: Date; id: string } | null;
}

/**
 * By nominal time, the latest first. A row of several together that only overlaps the span is in it: such rows are few
 * and have an index of their own, as below.
 */
export const listOccurrences = async (
  executor: Executor,
  scheduleId: string,
  { limit, from, to, outcome, before }: OccurrenceQuery,
): Promise<OccurrenceRow[]> => {
  const conditions = [sql`schedule_id = ${scheduleId}`];
  if (to) conditions.push(sql`scheduled_for <= ${to}`);
  if (outcome) conditions.push(hasOutcome(outcome));
  if (before) {
    const { scheduled_for, id } = before;
    conditions.push(sql`scheduled_for <= ${scheduled_for}`);
    conditions.push(sql`(scheduled_for < ${scheduled_for} or id < ${id})`);
  }
  const select = (...more: RawBuilder<unknown>[]) => sql`
    (select ${sql.join(columns.map(sql.ref))} from occurrences where ${sql.join([...conditions, ...more], sql` and `)}
      order by scheduled_for desc, id desc limit ${limit})`;
  const { rows } = from
    ? await sql<OccurrenceRow>`
        ${select(sql`scheduled_for > ${from}`)}
        union all ${select(sql`scheduled_for <= ${from}`, sql`at > ${from}`, sql`count > 1`)}
        order by scheduled_for desc, id desc limit ${limit}`.execute(executor)
    : await sql<OccurrenceRow>`${select()}`.execute(executor);
  return rows;
};

/**
 * Returns the records of the occurrences in (from, to], including rows of several together that only overlap it. Two
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

/**
 * Returns the occurrences that fired in the place of skipped ones, by the id of the skipped row: the next of the
 * schedule, if it was handled with them.
 */
export const findFollowers = async (
  executor: Executor,
  skipped: readonly Pick<OccurrenceRow, 'id' | 'schedule_id' | 'scheduled_for' | 'at'>[],
): Promise<Map<string, Pick<OccurrenceRow, 'outcome' | 'scheduled_for'>>> => {
  const { rows } = await sql<Pick<OccurrenceRow, 'id' | 'outcome' | 'scheduled_for'>>`
    select r.id, next.outcome, next.scheduled_for
    from unnest(${skipped.map((row) => row.id)}::uuid[], ${skipped.map((row) => row.schedule_id)}::uuid[],
      ${skipped.map((row) => row.scheduled_for)}::timestamptz[], ${skipped.map((row) => row.at)}::timestamptz[])
      as r(id, schedule_id, scheduled_for, at)
    cross join lateral (
      select outcome, scheduled_for, at from occurrences
      where schedule_id = r.schedule_id and scheduled_for > r.scheduled_for and outcome <> 'manual'
      order by scheduled_for limit 1) next
    where next.at = r.at and next.outcome <> 'skipped'`.execute(executor);
  return new Map(rows.map(({ id, ...row }) => [id, row]));
};

/** Deletes what happened more than `days` ago (0: nothing), at most `limit` rows. Returns how many. */
export const deleteOldOccurrences = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from occurrences where (schedule_id, id) in (
    select schedule_id, id from occurrences where at < platform_now() - ${days}::int * interval '1 day'
    order by at limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
