import { type Executor, sql } from '../../database/index.ts';
import { workerAlive } from '../../replicas/index.ts';
import type { WorkItem } from '../store.ts';
import { mostAhead, type QueueFacts, type WaitingRow } from './waiting.ts';

/** A Work Item in a list: without message, payload and result, and with the names of what it refers to. */
export interface WorkItemRow
  extends WaitingRow,
    Pick<
      WorkItem,
      | 'id'
      | 'agent_id'
      | 'agent_version'
      | 'schedule_id'
      | 'occurrence'
      | 'trigger_id'
      | 'occurrence_id'
      | 'work_item_name'
      | 'usage'
      | 'model'
      | 'attempts'
      | 'cost_nano_usd'
      | 'unknown_calls'
      | 'created_by'
      | 'created_at'
      | 'start_at'
      | 'started_at'
      | 'finished_at'
      | 'cancel_requested_at'
      | 'agent_exists'
      | 'error'
    > {
  agent_name: string | null;
  max_attempts: number | null;
  schedule_name: string | null;
  schedule_exists: boolean;
  /** null: none, or it was deleted. */
  trigger_name: string | null;
  /** Name as the history has it, which outlives the key and the person. */
  creator_name: string | null;
  by_person: boolean;
}

/** Messages and reasons in a list have at most so many characters. */
const shownText = sql.lit(200);

/** The Work Items with these ids, in this order, as far as they exist. */
export const listRows = async (executor: Executor, ids: readonly string[]): Promise<WorkItemRow[]> => {
  if (ids.length === 0) return [];
  const { rows } = await sql<WorkItemRow>`
    select w.id, w.agent_id, a.name as agent_name, a.id is not null as agent_exists, a.max_attempts,
      w.agent_version, w.schedule_id, s.work_item_name as schedule_name, s.id is not null as schedule_exists, w.occurrence,
      w.trigger_id, w.occurrence_id, t.name as trigger_name,
      w.work_item_name, w.status, w.usage, w.model, w.attempts, w.cost_nano_usd, w.unknown_calls, w.created_by, w.by_person,
      creator.name as creator_name, w.created_at, w.updated_at, w.start_at, w.started_at, w.finished_at, w.cancel_requested_at,
      case when w.error is not null then jsonb_build_object('code', w.error ->> 'code',
        'message', left(w.error ->> 'message', ${shownText})) end as error,
      left(w.review_reason, ${shownText}) as review_reason,
      case when w.status = 'PENDING' and w.start_at > platform_now() then w.start_at end as starts_at,
      case when w.not_before > platform_now() and w.start_at is distinct from w.not_before then w.not_before end as retry_at,
      w.budget_wait ->> 'name' as budget,
      case when w.lease_expires_at <= platform_now() then w.lease_expires_at end as lost_at,
      case when w.pending_approvals is not null then jsonb_build_object(
        'kind', w.pending_approvals -> 0 ->> 'kind', 'tool_name', w.pending_approvals -> 0 ->> 'tool_name',
        'reason', left(w.pending_approvals -> 0 ->> 'reason', ${shownText}),
        'more', jsonb_array_length(w.pending_approvals) - 1) end as approval
    from unnest(${ids}::uuid[]) with ordinality listed(id, position)
    join work_items w on w.id = listed.id
    left join agents a on a.id = w.agent_id
    left join schedules s on s.id = w.schedule_id
    left join triggers t on t.id = w.trigger_id
    left join lateral (select e.principal ->> 'name' as name from work_item_events e
      where e.work_item_id = w.id order by e.seq limit 1) creator on w.occurrence is null
    order by listed.position`.execute(executor);
  return rows;
};

/** The queue that each of these waits in, by their ids: those that are PENDING and no retry, or whose worker was lost. */
export const findQueues = async (
  executor: Executor,
  rows: readonly WorkItemRow[],
): Promise<Map<string, QueueFacts>> => {
  const waiting = rows.filter(
    ({ status, starts_at, retry_at, lost_at }) =>
      (status === 'PENDING' && !starts_at && !retry_at) || lost_at !== null,
  );
  if (waiting.length === 0) return new Map();
  const agents = [...new Set(waiting.map(({ agent_id }) => agent_id))];
  const ids = waiting.map(({ id }) => id);
  type Facts = Omit<QueueFacts, 'ahead'> & { agent_id: string; positions: Record<string, number> };
  const { rows: found } = await sql<Facts>`
    select a.id as agent_id, a.execution = 'external' as external, a.max_concurrency as "of",
      (select count(*)::integer from work_items where status = 'EXECUTING' and agent_id = a.id) as used,
      ${workerAlive} as "workerAlive",
      coalesce((select jsonb_object_agg(id, ahead) from (
        select id, row_number() over (order by created_at, id) - 1 as ahead from (
          (select id, created_at from work_items where status = 'PENDING' and not_before is null and agent_id = a.id
            order by created_at, id limit ${mostAhead})
          union all
          (select id, created_at from work_items where status = 'PENDING' and not_before <= platform_now()
            and agent_id = a.id limit ${mostAhead})
        ) queue
      ) positions where id = any(${ids}::uuid[])), '{}') as positions
    from agents a where a.id = any(${agents}::uuid[])`.execute(executor);
  const byAgent = new Map(found.map((facts) => [facts.agent_id, facts]));
  return new Map(
    waiting.flatMap(({ id, agent_id }) => {
      const facts = byAgent.get(agent_id);
      if (!facts) return [];
      const { positions, agent_id: _, ...queue } = facts;
      return [[id, { ...queue, ahead: Math.min(mostAhead, positions[id] ?? mostAhead) }]];
    }),
  );
};
