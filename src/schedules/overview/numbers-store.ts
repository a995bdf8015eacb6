import { type Executor, instant, spanOf, sql } from '../../database/index.ts';
import { graphedStatus, overdueRows } from '../lateness.ts';

/** Occurrences that were handled in one span of time: `at` is its beginning. */
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
    select ${spanOf(sql`at`, stepMs)} as at, ${graphedStatus} as status, sum(count)::int as n
    from occurrences where at >= ${instant(from)} and outcome <> 'manual'
    group by 1, 2`.execute(executor);
  return rows;
};

/** Schedules with the same expression and zone. */
export interface TimesCount {
  cron_expression: string;
  timezone: string;
  /** Number of them that have a next time. */
  n: number;
  enabled: number;
  paused: number;
}

/**
 * Returns the number of schedules that have each expression and zone. One reading of the table, which has no index
 * for it.
 */
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
    where ${overdueRows} order by next_run_at limit ${limit}`.execute(executor);
  return rows;
};
