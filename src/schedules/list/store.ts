import { type RecentCost, recentCost } from '../../charges/index.ts';
import { type Executor, instant, type RawBuilder, sql } from '../../database/index.ts';
import { matchesFilter, type ScheduleFilter } from '../filter.ts';
import { lateRows } from '../lateness.ts';
import type { OccurrenceRow } from '../occurrence-store.ts';
import type { ScheduleRow } from '../store.ts';

/** A schedule with the name of its agent, without what only its Work Items need. */
export interface ListedRow
  extends Omit<ScheduleRow, 'message' | 'payload' | 'metadata' | 'last_occurrence' | 'zone_rules'> {
  agent_name: string;
  cost: RecentCost;
  /** The name by which it is sorted. */
  sort_name: string;
}

const listedColumns = sql`s.id, s.agent_id, a.name as agent_name, s.cron_expression, s.timezone, s.enabled, s.catch_up, s.overlap,
  s.work_item_name, s.last_run_at, s.next_run_at, s.revision, s.created_at, s.updated_at,
  ${recentCost('schedule_id', sql`s.id`)} as cost, lower(coalesce(s.work_item_name, a.name)) as sort_name`;
const joined = sql`schedules s join agents a on a.id = s.agent_id`;

export const sorts = ['next', 'last', 'name'] as const;
export type Sort = (typeof sorts)[number];

/** Beginning of a page: after the schedule with this id and this value of the sort (a time in ms, or a name). */
export interface After {
  value: string | number | null;
  id: string;
}

const orders: Record<Sort, RawBuilder<unknown>> = {
  next: sql`s.next_run_at nulls last, s.id`,
  last: sql`s.last_run_at desc nulls last, s.id`,
  name: sql`lower(coalesce(s.work_item_name, a.name)) collate "C", s.id`,
};

/** Condition of the schedules that come after `after` in the order of `sort`. */
const isAfter = (sort: Sort, { value, id }: After): RawBuilder<unknown> => {
  if (sort === 'name') {
    return sql`(lower(coalesce(s.work_item_name, a.name)) collate "C", s.id) > (${value}, ${id}::uuid)`;
  }
  const column = sort === 'next' ? sql`s.next_run_at` : sql`s.last_run_at`;
  if (value === null) return sql`${column} is null and s.id > ${id}`;
  const at = instant(Number(value));
  const later = sort === 'next' ? sql`${column} > ${at}` : sql`${column} < ${at}`;
  return sql`(${later} or (${column} = ${at} and s.id > ${id}) or ${column} is null)`;
};

export const listSchedules = async (
  executor: Executor,
  filter: ScheduleFilter,
  { sort, after, limit }: { sort: Sort; after: After | null; limit: number },
): Promise<ListedRow[]> => {
  const { rows } = await sql<ListedRow>`
    select ${listedColumns} from ${joined}
    where ${matchesFilter(filter)} and ${after ? isAfter(sort, after) : sql`true`}
    order by ${orders[sort]} limit ${limit}`.execute(executor);
  return rows;
};

/** The count of a list ends here. */
export const mostCounted = 10_000;

export const countMatching = async (executor: Executor, filter: ScheduleFilter): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from (
    select from ${joined} where ${matchesFilter(filter)} limit ${sql.lit(mostCounted)}) matching`.execute(
    executor,
  );
  return rows[0]!.n;
};

/** The last `limit` records of each of these schedules, the latest first. */
export const listRecent = async (
  executor: Executor,
  ids: readonly string[],
  limit: number,
): Promise<OccurrenceRow[]> => {
  const { rows } = await sql<OccurrenceRow>`
    select o.id, o.schedule_id, o.scheduled_for, o.outcome, o.work_item_id, o.at, o.count, o.reason,
      o.running_work_item_id
    from unnest(${ids}::uuid[]) as listed(id) cross join lateral (
      select * from occurrences where schedule_id = listed.id order by id desc limit ${limit}) o`.execute(
    executor,
  );
  return rows;
};

export type DetailRow = ListedRow & Pick<ScheduleRow, 'message' | 'payload' | 'metadata'>;

export const findDetail = async (executor: Executor, id: string): Promise<DetailRow | undefined> => {
  const { rows } = await sql<DetailRow>`
    select ${listedColumns}, s.message, s.payload, s.metadata from ${joined} where s.id = ${id}`.execute(
    executor,
  );
  return rows[0];
};

/** Number of occurrences that there were since `from`, by what became of them; without runs by hand. */
export interface Punctuality {
  total: number;
  on_time: number;
}

export const countOnTime = async (executor: Executor, id: string, from: Date): Promise<Punctuality> => {
  const { rows } = await sql<Punctuality>`
    select coalesce(sum(count), 0)::int as total,
      count(*) filter (where outcome = 'fired' and not ${lateRows})::int as on_time
    from occurrences where schedule_id = ${id} and scheduled_for > ${from} and outcome <> 'manual'`.execute(
    executor,
  );
  return rows[0]!;
};
