import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import { waitsForTime } from '../../work-items/index.ts';

/** Times in milliseconds since 1970. */
const milliseconds = (time: number) => sql`to_timestamp(${time}::float8 / 1000)`;

const bucketOf = (column: RawBuilder<unknown>, stepMs: number): RawBuilder<unknown> =>
  sql`(floor(date_part('epoch', ${column}) * 1000 / ${stepMs}::float8) * ${stepMs}::float8)::bigint`;

/** What ended in one span of time: `at` is its beginning. */
export interface EndedCount {
  at: number;
  status: string;
  n: number;
  tokens: number;
}

/** The Work Items that ended at `from` or later, counted in spans of `stepMs`. */
export const countEnded = async (executor: Executor, from: number, stepMs: number): Promise<EndedCount[]> => {
  const { rows } = await sql<EndedCount>`
    select ${bucketOf(sql`finished_at`, stepMs)} as at, status, count(*)::int as n,
      coalesce(sum((usage ->> 'input_tokens')::bigint + (usage ->> 'output_tokens')::bigint), 0)::bigint as tokens
    from work_items where finished_at is not null and finished_at >= ${milliseconds(from)}
    group by 1, 2`.execute(executor);
  return rows;
};

/** What was handled in one span of time. */
export interface HandledCount {
  at: number;
  status: 'on_time' | 'late' | 'caught_up' | 'skipped' | 'missing';
  n: number;
}

/** The occurrences that were handled at `from` or later, counted in spans of `stepMs`. */
export const countHandled = async (
  executor: Executor,
  from: number,
  stepMs: number,
): Promise<HandledCount[]> => {
  const { rows } = await sql<HandledCount>`
    select ${bucketOf(sql`at`, stepMs)} as at, case when reason = 'missed' then 'missing'
      when outcome <> 'fired' then outcome when at - scheduled_for <= interval '5 seconds' then 'on_time' else 'late' end as status, sum(count)::int as n
    from occurrences where at >= ${milliseconds(from)} and outcome <> 'manual'
    group by 1, 2`.execute(executor);
  return rows;
};

/** Counts of what is open end here. */
const mostOpen = 10_000;

export interface OpenCounts {
  pending: number;
  executing: number;
  needs_review: number;
  indeterminate: number;
  draft: number;
  oldest_pending_at: Date | null;
}

const capped = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (select count(*)::int from (select from work_items where ${condition} limit ${sql.lit(mostOpen)}) one)`;

export const countOpen = async (executor: Executor): Promise<OpenCounts> => {
  const waits = (status: string) =>
    capped(sql`status in ('NEEDS_REVIEW', 'INDETERMINATE') and status = ${sql.lit(status)}`);
  const { rows } = await sql<OpenCounts>`select ${capped(sql`status = 'PENDING'`)} as pending,
    ${capped(sql`status = 'EXECUTING'`)} as executing, ${waits('NEEDS_REVIEW')} as needs_review,
    ${waits('INDETERMINATE')} as indeterminate,
    ${capped(sql`status not in ('PENDING', 'EXECUTING') and status = 'DRAFT'`)} as draft,
    least(
      (select created_at from work_items where status = 'PENDING' and ${waitsForTime} = 0
        order by created_at, id limit 1),
      (select created_at from work_items where status = 'PENDING' and ${waitsForTime} = 1 and start_at is null
        order by created_at, id limit 1)) as oldest_pending_at`.execute(executor);
  return rows[0]!;
};

/** Schedules with the same expression and zone. */
export interface TimesCount {
  cron_expression: string;
  timezone: string;
  /** How many of them have a next time. */
  n: number;
  enabled: number;
  paused: number;
}

/** How many schedules have each expression and zone. One reading of the table, which has no index for it. */
export const countSchedules = async (executor: Executor): Promise<TimesCount[]> => {
  const { rows } = await sql<TimesCount>`
    select cron_expression, timezone, count(*) filter (where enabled and next_run_at is not null)::int as n,
      count(*) filter (where enabled)::int as enabled, count(*) filter (where not enabled)::int as paused
    from schedules group by 1, 2`.execute(executor);
  return rows;
};

/** Schedules that are due and not fired: the first ones, which are enough to show that there are some. */
export const listDue = async (
  executor: Executor,
  limit: number,
): Promise<{ cron_expression: string; timezone: string; due: Date }[]> => {
  const { rows } = await sql<{ cron_expression: string; timezone: string; due: Date }>`
    select cron_expression, timezone, next_run_at as due from schedules
    where next_run_at < platform_now() - interval '5 seconds' order by next_run_at limit ${limit}`.execute(
    executor,
  );
  return rows;
};

/** Spans that were delivered to all integrations in each hour from `from` on, by the samples of each minute. */
export const countDelivered = async (
  executor: Executor,
  from: number,
): Promise<{ at: Date; delivered: number }[]> => {
  const { rows } = await sql<{ at: Date; delivered: number }>`
    select at, sum(greatest(0, delivered - before))::bigint as delivered from (
      select at, delivered, lag(delivered, 1, first) over (partition by number order by at) as before from (
        select number, date_trunc('hour', at) as at, max(delivered) as delivered, min(delivered) as first
        from telemetry_samples where at >= ${milliseconds(from)} group by 1, 2) hours) differences
    group by at order by at`.execute(executor);
  return rows;
};

/** What a workspace has, for the list of what is left to set up. */
export interface Setup {
  agent: boolean;
  first_run: boolean;
  schedule: boolean;
  tracing_backend: boolean;
  real_model: boolean;
  team_key: boolean;
}

export const findSetup = async (executor: Executor): Promise<Setup> => {
  const { rows } = await sql<Setup>`select exists (select from agents) as agent,
    exists (select from work_items where status not in ('PENDING', 'EXECUTING') and status = 'COMPLETED') as first_run,
    exists (select from schedules) as schedule,
    exists (select from observability_integrations where is_enabled) as tracing_backend,
    exists (select from llm_configurations where kind <> 'mock' and test_passed_at is not null) as real_model,
    exists (select from api_keys where created_by <> 'system') as team_key`.execute(executor);
  return rows[0]!;
};
