import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import type { LedgerStatus } from '../explain/ledger.ts';
import { graphedStatus } from '../lateness.ts';
import type { OccurrenceRow } from '../occurrence-store.ts';
import type { ScheduleRow } from '../store.ts';

/** A schedule of a row of the timeline. */
export interface PlottedSchedule
  extends Pick<
    ScheduleRow,
    'id' | 'agent_id' | 'work_item_name' | 'cron_expression' | 'timezone' | 'enabled' | 'next_run_at'
  > {
  agent_name: string;
  sort_name: string;
}

/** An agent that has schedules or triggers. */
export interface PlottedAgent {
  id: string;
  name: string;
  schedules: number;
  sort_name: string;
}

export interface RowQuery {
  agentId: string | null;
  scheduleId: string | null;
  /** Name and id after which the page begins. */
  after: { name: string; id: string } | null;
  limit: number;
}

const plottedColumns = sql`s.id, s.agent_id, a.name as agent_name, s.work_item_name, s.cron_expression, s.timezone,
  s.enabled, s.next_run_at, lower(coalesce(s.work_item_name, a.name)) as sort_name`;

const chosen = ({ agentId, scheduleId }: RowQuery): RawBuilder<unknown> =>
  sql`${agentId ? sql`s.agent_id = ${agentId}` : sql`true`} and ${scheduleId ? sql`s.id = ${scheduleId}` : sql`true`}`;

/** Returns the schedules to plot, by name. */
export const listPlotted = async (executor: Executor, query: RowQuery): Promise<PlottedSchedule[]> => {
  const { after, limit } = query;
  const name = sql`lower(coalesce(s.work_item_name, a.name)) collate "C"`;
  const { rows } = await sql<PlottedSchedule>`
    select ${plottedColumns} from schedules s join agents a on a.id = s.agent_id
    where ${chosen(query)} and ${after ? sql`(${name}, s.id) > (${after.name}, ${after.id}::uuid)` : sql`true`}
    order by ${name}, s.id limit ${limit}`.execute(executor);
  return rows;
};

/** The agents that have schedules or triggers, by name. With `scheduleId`: the agent of that schedule. */
export const listPlottedAgents = async (executor: Executor, query: RowQuery): Promise<PlottedAgent[]> => {
  const { agentId, scheduleId, after, limit } = query;
  const name = sql`lower(a.name) collate "C"`;
  const { rows } = await sql<PlottedAgent>`
    select a.id, a.name, lower(a.name) as sort_name, count(s.id)::int as schedules
    from agents a left join schedules s on s.agent_id = a.id and ${scheduleId ? sql`s.id = ${scheduleId}` : sql`true`}
    where ${agentId ? sql`a.id = ${agentId}` : sql`true`} and (s.id is not null or (${sql.lit(scheduleId === null)}
        and exists (select from triggers t where t.agent_id = a.id)))
      and ${after ? sql`(${name}, a.id) > (${after.name}, ${after.id}::uuid)` : sql`true`}
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

/** Number of records of a schedule in a bucket: the `k`th from `from` on. */
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
      ${graphedStatus} as status,
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
