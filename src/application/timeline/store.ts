import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import type { HistoryRow, LedgerStatus, OccurrenceRow } from '../../schedules/index.ts';

/** A schedule of a row of the timeline. */
export interface PlottedSchedule {
  id: string;
  agent_id: string;
  agent_name: string;
  work_item_name: string | null;
  cron_expression: string;
  timezone: string;
  enabled: boolean;
  next_run_at: Date | null;
  sort_name: string;
}

/** An agent that has schedules. */
export interface PlottedAgent {
  id: string;
  name: string;
  schedules: number;
  sort_name: string;
}

export interface RowQuery {
  agentId: string | null;
  scheduleId: string | null;
  /** After this name and id. */
  after: { name: string; id: string } | null;
  limit: number;
}

const plottedColumns = sql`s.id, s.agent_id, a.name as agent_name, s.work_item_name, s.cron_expression, s.timezone,
  s.enabled, s.next_run_at, lower(coalesce(s.work_item_name, a.name)) as sort_name`;

const chosen = ({ agentId, scheduleId }: RowQuery): RawBuilder<unknown> =>
  sql`${agentId ? sql`s.agent_id = ${agentId}` : sql`true`} and ${scheduleId ? sql`s.id = ${scheduleId}` : sql`true`}`;

/** By name. */
export const listPlotted = async (executor: Executor, query: RowQuery): Promise<PlottedSchedule[]> => {
  const { after, limit } = query;
  const name = sql`lower(coalesce(s.work_item_name, a.name)) collate "C"`;
  const { rows } = await sql<PlottedSchedule>`
    select ${plottedColumns} from schedules s join agents a on a.id = s.agent_id
    where ${chosen(query)} and ${after ? sql`(${name}, s.id) > (${after.name}, ${after.id}::uuid)` : sql`true`}
    order by ${name}, s.id limit ${limit}`.execute(executor);
  return rows;
};

/** The agents that have schedules, by name. */
export const listPlottedAgents = async (executor: Executor, query: RowQuery): Promise<PlottedAgent[]> => {
  const { after, limit } = query;
  const name = sql`lower(a.name) collate "C"`;
  const { rows } = await sql<PlottedAgent>`
    select a.id, a.name, lower(a.name) as sort_name, count(*)::int as schedules
    from agents a join schedules s on s.agent_id = a.id
    where ${chosen(query)} and ${after ? sql`(${name}, a.id) > (${after.name}, ${after.id}::uuid)` : sql`true`}
    group by a.id order by ${name}, a.id limit ${limit}`.execute(executor);
  return rows;
};

export const listPlottedOf = async (
  executor: Executor,
  agentIds: readonly string[],
  scheduleId: string | null,
): Promise<PlottedSchedule[]> => {
  const { rows } = await sql<PlottedSchedule>`
    select ${plottedColumns} from schedules s join agents a on a.id = s.agent_id
    where s.agent_id = any(${agentIds}::uuid[]) and ${scheduleId ? sql`s.id = ${scheduleId}` : sql`true`}`.execute(
    executor,
  );
  return rows;
};

/** How many records of a schedule are in a bucket: the `k`th from `from` on. */
export interface BucketCount {
  schedule_id: string;
  k: number;
  status: LedgerStatus | 'missing';
  n: number;
}

/** The records of single occurrences in [from, to), counted in buckets of `stepMs`; what was missed as missing. */
export const countRecorded = async (
  executor: Executor,
  ids: readonly string[],
  { from, to, stepMs }: { from: Date; to: Date; stepMs: number },
): Promise<BucketCount[]> => {
  const { rows } = await sql<BucketCount>`
    select schedule_id, floor(date_part('epoch', scheduled_for - ${from}::timestamptz) * 1000 / ${stepMs}::float8)::int as k,
      case when reason = 'missed' then 'missing' when outcome <> 'fired' then outcome when at - scheduled_for <= interval '5 seconds' then 'on_time'
        else 'late' end as status,
      count(*)::int as n
    from occurrences
    where schedule_id = any(${ids}::uuid[]) and scheduled_for >= ${from} and scheduled_for < ${to} and count = 1
    group by 1, 2, 3`.execute(executor);
  return rows;
};

/** The records of several occurrences together that overlap [from, to). */
export const listTogether = async (
  executor: Executor,
  ids: readonly string[],
  from: Date,
  to: Date,
): Promise<Pick<OccurrenceRow, 'schedule_id' | 'scheduled_for' | 'at' | 'count' | 'reason'>[]> => {
  const { rows } = await sql<
    Pick<OccurrenceRow, 'schedule_id' | 'scheduled_for' | 'at' | 'count' | 'reason'>
  >`
    select schedule_id, scheduled_for, at, count, reason from occurrences
    where schedule_id = any(${ids}::uuid[]) and count > 1 and scheduled_for < ${to} and at >= ${from}`.execute(
    executor,
  );
  return rows;
};

/** The versions of these schedules in (from, to) and the ones before, oldest first. */
export const listVersionsOf = async (
  executor: Executor,
  ids: readonly string[],
  from: Date,
  to: Date,
): Promise<HistoryRow[]> => {
  const { rows } = await sql<HistoryRow>`
    select d.schedule_id, d.revision, d.from_at, d.cron_expression, d.timezone, d.enabled, d.catch_up, d.overlap, d.action,
      d.principal, d.reason, d.changed
    from unnest(${ids}::uuid[]) as s(id)
    cross join lateral (select max(revision) as revision from schedule_definitions
      where schedule_id = s.id and from_at <= ${from}) held
    join schedule_definitions d on d.schedule_id = s.id and d.revision >= coalesce(held.revision, 0)
      and d.from_at < ${to}
    order by d.schedule_id, d.revision`.execute(executor);
  return rows;
};
