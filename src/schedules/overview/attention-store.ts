import { type Executor, sql } from '../../database/index.ts';
import { mostLines } from '../../lib/attention.ts';
import { missedRows, overdueRows } from '../lateness.ts';
import type { OccurrenceRow } from '../occurrence-store.ts';

interface Named {
  id: string;
  name: string;
  timezone: string;
}

/** Counts end here, so that no look reads more. */
export const mostCounted = 10_000;

const name = sql`coalesce(s.work_item_name, a.name) as name`;

export type OverdueRow = Named & { due: Date };

/** The first schedules that are due and have not fired, and how many there are. */
export const listOverdue = async (executor: Executor): Promise<{ rows: OverdueRow[]; total: number }> => {
  const { rows } = await sql<OverdueRow>`
    select s.id, ${name}, s.timezone, s.next_run_at as due
    from (select * from schedules where ${overdueRows} order by next_run_at limit ${sql.lit(mostLines + 1)}) s
    join agents a on a.id = s.agent_id order by s.next_run_at`.execute(executor);
  if (rows.length <= mostLines) return { rows, total: rows.length };
  const counted = await sql<{ n: number }>`select count(*)::int as n from (
    select from schedules where ${overdueRows} order by next_run_at limit ${sql.lit(mostCounted)}) due`.execute(
    executor,
  );
  return { rows, total: counted.rows[0]!.n };
};

export type BlockedRow = Named & {
  next_run_at: Date | null;
  reason: string | null;
  at: Date | null;
  total: number;
};

/** The first schedules that cannot fire: no next time can be computed, or the last occurrence could not. */
export const listBlocked = async (executor: Executor): Promise<BlockedRow[]> => {
  const { rows } = await sql<BlockedRow>`
    with blocked as (
      (select id from schedules where enabled and next_run_at is null limit ${sql.lit(mostCounted)})
      union (select id from schedules where last_outcome = 'blocked' and enabled limit ${sql.lit(mostCounted)})
    ), first as (
      select id, (count(*) over ())::int as total from blocked order by id limit ${sql.lit(mostLines + 1)}
    )
    select s.id, ${name}, s.timezone, s.next_run_at, last.reason, last.at, first.total
    from first join schedules s on s.id = first.id join agents a on a.id = s.agent_id
    left join lateral (select outcome, reason, at from occurrences where schedule_id = s.id order by id desc limit 1) last
      on last.outcome = 'skipped'
    order by last.at nulls first`.execute(executor);
  return rows;
};

export interface SkippedRow extends Named {
  skipped: number;
  since: Date;
  until: Date;
  /** The record that stands for the most of them. */
  sample: string;
  /** Number of all schedules with such records. */
  schedules: number;
  total: number;
  first: Date;
  last: Date;
}

/** The schedules with the most occurrences that were missed and skipped since `from`. */
export const listSkipped = async (executor: Executor, from: Date): Promise<SkippedRow[]> => {
  const { rows } = await sql<SkippedRow>`
    with missed as (
      select r.schedule_id, sum(r.count)::int as skipped, min(r.scheduled_for) as since, max(r.scheduled_for) as until
      from (select schedule_id, scheduled_for, count from occurrences
        where ${missedRows} and at > ${from} order by at desc limit ${sql.lit(mostCounted)}) r
      group by r.schedule_id
    ), most as (
      select m.*, (count(*) over ())::int as schedules, (sum(m.skipped) over ())::int as total,
        min(m.since) over () as first, max(m.until) over () as last
      from missed m order by m.skipped desc, m.since, m.schedule_id limit ${sql.lit(mostLines + 1)}
    )
    select s.id, ${name}, s.timezone, m.skipped, m.since, m.until, m.schedules, m.total, m.first, m.last,
      (select id from occurrences where ${missedRows} and at > ${from} and schedule_id = m.schedule_id
        and scheduled_for between m.since and m.until order by count desc, at desc limit 1) as sample
    from most m join schedules s on s.id = m.schedule_id join agents a on a.id = s.agent_id
    order by m.skipped desc, m.since, s.id`.execute(executor);
  return rows;
};

export const findRecords = async (
  executor: Executor,
  keys: readonly { schedule_id: string; id: string }[],
): Promise<OccurrenceRow[]> => {
  const { rows } = await sql<OccurrenceRow>`
    select o.id, o.schedule_id, o.scheduled_for, o.outcome, o.work_item_id, o.at, o.count, o.reason
    from unnest(${keys.map((key) => key.schedule_id)}::uuid[], ${keys.map((key) => key.id)}::uuid[])
      as k(schedule_id, id) join occurrences o on o.schedule_id = k.schedule_id and o.id = k.id`.execute(
    executor,
  );
  return rows;
};
