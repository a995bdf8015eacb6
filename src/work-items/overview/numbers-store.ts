import { type Executor, instant, type RawBuilder, spanOf, sql } from '../../database/index.ts';
import { waitsForTime } from '../search/conditions.ts';

/** Work Items that ended in one span of time: `at` is its beginning. */
export interface EndedCount {
  at: number;
  status: string;
  n: number;
  tokens: number;
}

/** The Work Items that ended at `from` or later, counted in spans of `stepMs`. */
export const countEnded = async (executor: Executor, from: number, stepMs: number): Promise<EndedCount[]> => {
  const { rows } = await sql<EndedCount>`
    select ${spanOf(sql`finished_at`, stepMs)} as at, status, count(*)::int as n,
      coalesce(sum((usage ->> 'input_tokens')::bigint + (usage ->> 'output_tokens')::bigint), 0)::bigint as tokens
    from work_items where finished_at is not null and finished_at >= ${instant(from)}
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
