import { type Executor, sql } from '../../database/index.ts';
import { mostLines } from '../../lib/attention.ts';
import { waitsForTime } from '../search/conditions.ts';

/** Counts end here, so that no look reads more. */
export const mostCounted = 5_000;
/** A Work Item that is PENDING for longer needs attention. */
export const pendingMinutes = 5;

/** The index of what has ended names this condition. */
const atRest = sql`status not in ('PENDING', 'EXECUTING')`;

export interface ErrorRow {
  code: string | null;
  count: number;
  since: Date;
  last: Date;
  /** Number of agents with this error. */
  agents: number;
  agent_id: string;
  /** Null if the agent is gone. */
  agent_name: string | null;
  /** Message of the last error. */
  message: string | null;
}

/** Returns Work Items that ended in ERROR since `from`, by the code of the error; the most frequent first. */
export const listErrors = async (executor: Executor, from: Date): Promise<ErrorRow[]> => {
  const ended = sql`status = 'ERROR' and ${atRest} and finished_at is not null`;
  // Summed by agent first, which needs no sort of all rows.
  const { rows } = await sql<ErrorRow>`
    with failed as (
      select error ->> 'code' as code, agent_id, finished_at from work_items
      where ${ended} and finished_at > ${from} order by finished_at desc limit ${sql.lit(mostCounted)}
    ), by_agent as (
      select code, agent_id, count(*) as n, min(finished_at) as since, max(finished_at) as last
      from failed group by 1, 2
    ), codes as (
      select code, sum(n)::int as count, min(since) as since, max(last) as last, count(*)::int as agents
      from by_agent group by 1 order by 2 desc limit ${sql.lit(mostLines)}
    )
    select c.*, w.agent_id, a.name as agent_name, w.message from codes c
    cross join lateral (select agent_id, error ->> 'message' as message from work_items
      where ${ended} and finished_at = c.last and error ->> 'code' is not distinct from c.code limit 1) w
    left join agents a on a.id = w.agent_id order by c.count desc`.execute(executor);
  return rows;
};

export interface WaitingRow {
  status: 'NEEDS_REVIEW' | 'INDETERMINATE';
  count: number;
  since: Date;
  id: string;
  name: string;
  question: string | null;
}

/** Returns the statuses that wait for a person, each with the Work Item that has waited longest. */
export const listWaiting = async (executor: Executor): Promise<WaitingRow[]> => {
  const { rows } = await sql<WaitingRow>`
    select s.status, waiting.count, w.updated_at as since, w.id, coalesce(w.work_item_name, a.name, 'a Work Item') as name,
      left(coalesce(w.review_reason, w.pending_approvals -> 0 ->> 'reason'), 200) as question
    from unnest(array['NEEDS_REVIEW', 'INDETERMINATE']) as s(status)
    cross join lateral (select count(*)::int as count from (
      select from work_items where status in ('NEEDS_REVIEW', 'INDETERMINATE') and status = s.status
      limit ${sql.lit(mostCounted)}) one) waiting
    cross join lateral (select * from work_items
      where status in ('NEEDS_REVIEW', 'INDETERMINATE') and status = s.status order by updated_at, id limit 1) w
    left join agents a on a.id = w.agent_id`.execute(executor);
  return rows;
};

export interface PendingRow {
  agent_id: string;
  agent_name: string | null;
  external: boolean;
  max_concurrency: number;
  executing: number;
  count: number;
  since: Date;
  /** Number of them that wait for their next attempt, and when the first is. */
  retries: number;
  retry_at: Date | null;
  /** Number of them that wait for the next period of a budget; these are among the retries. */
  budget_waits: number;
}

/** Returns Work Items that have been PENDING for more than five minutes, by agent. */
export const listPending = async (executor: Executor): Promise<PendingRow[]> => {
  const long = sql`${sql.lit(pendingMinutes)} * interval '1 minute'`;
  // Two reads of an index in its order. What has a start waits since then.
  const oldest = (half: 0 | 1) => sql`
    select agent_id, greatest(updated_at, start_at) as updated_at, not_before, budget_wait from work_items
    where status = 'PENDING' and ${waitsForTime} = ${sql.lit(half)} and created_at < platform_now() - ${long}
    order by created_at limit ${sql.lit(mostCounted)}`;
  const { rows } = await sql<PendingRow>`
    select p.*, a.name as agent_name, coalesce(a.execution = 'external', false) as external,
      coalesce(a.max_concurrency, 0) as max_concurrency,
      (select count(*)::int from work_items e where e.status = 'EXECUTING' and e.agent_id = p.agent_id) as executing
    from (
      select agent_id, count(*)::int as count, min(updated_at) as since,
        count(*) filter (where not_before > platform_now())::int as retries, min(not_before) as retry_at,
        count(*) filter (where not_before > platform_now() and budget_wait is not null)::int as budget_waits
      from ((${oldest(0)}) union all (${oldest(1)})) waiting
      where updated_at < platform_now() - ${long}
      group by agent_id order by 2 desc limit ${sql.lit(mostLines + 1)}
    ) p left join agents a on a.id = p.agent_id order by p.count desc`.execute(executor);
  return rows;
};
