import { type Executor, sql } from '../../database/index.ts';
import type { Kind } from '../settings.ts';

export interface PendingEvent {
  id: string;
  trigger_id: string;
  event_id: string;
  type: string | null;
  at: Date;
  depth: number;
  body: Record<string, unknown> & { id: string };
}

/** The events `e` that wait to be judged. Those of a deleted trigger are left to retention. */
const pending = sql`from trigger_events e join triggers t on t.id = e.trigger_id
  where e.outcome = 'pending' and e.pending_event is not null`;

/** The events that wait to be judged, the oldest first. */
export const listPending = async (executor: Executor, limit: number): Promise<PendingEvent[]> => {
  const { rows } = await sql<PendingEvent>`
    select e.id, e.trigger_id, e.event_id, e.type, e.at, e.depth, e.pending_event as body
    ${pending} order by e.id limit ${limit}`.execute(executor);
  return rows;
};

/** Whether a trigger of the kind is enabled, or one that was still has events that wait to be judged. */
export const isKindInUse = async (
  executor: Executor,
  kind: Extract<Kind, 'work_item' | 'absence'>,
): Promise<boolean> => {
  const { rows } = await sql<{ is: boolean }>`
    select (exists (select from triggers where kind = ${kind} and enabled)
      or (${kind}::text = 'work_item' and exists (select ${pending}))) as is`.execute(executor);
  return rows[0]!.is;
};

/** A trigger whose window has ended, or that waits to see again what was missing. */
export interface DueAbsence {
  id: string;
  settings: string;
  due_at: Date | null;
  missed_at: Date | null;
  watched_agent_id: string | null;
  watched_trigger_id: string | null;
  watched_name: string;
  now: Date;
}

export const listDueAbsences = async (executor: Executor): Promise<DueAbsence[]> => {
  const { rows } = await sql<DueAbsence>`
    select t.id, t.settings, t.due_at, t.missed_at, t.watched_agent_id, t.watched_trigger_id,
      coalesce(a.name, watched.name) as watched_name, platform_now() as now
    from triggers t
    left join agents a on a.id = t.watched_agent_id
    left join triggers watched on watched.id = t.watched_trigger_id
    where t.kind = 'absence' and t.enabled and (t.due_at <= platform_now() or t.missed_at is not null)
      and (a.id is not null or watched.id is not null)`.execute(executor);
  return rows;
};

/** When the trigger or the agent was last seen: an event that started something or would have, or a COMPLETED Work Item. */
export const findLastSeen = async (
  executor: Executor,
  { watched_agent_id: agentId, watched_trigger_id: triggerId }: DueAbsence,
): Promise<Date | null> => {
  const seen = triggerId
    ? sql`select max(last.at) as at from unnest(array['fired', 'limited', 'paused']) as o(outcome)
        cross join lateral (select at from trigger_events where trigger_id = ${triggerId} and outcome = o.outcome
          order by at desc, id desc limit 1) last`
    : sql`select finished_at as at from work_items where agent_id = ${agentId} and status = 'COMPLETED'
        and status not in ('PENDING', 'EXECUTING') and finished_at is not null order by finished_at desc limit 1`;
  const { rows } = await sql<{ at: Date | null }>`${seen}`.execute(executor);
  return rows[0]?.at ?? null;
};

/** Writes when something is next due, and since when it is missing, unless someone changed it in the meantime. */
export const updateDue = async (
  executor: Executor,
  { id, due_at, missed_at }: DueAbsence,
  next: { due_at: Date | null; missed_at: Date | null },
): Promise<void> => {
  await sql`update triggers set due_at = ${next.due_at}, missed_at = ${next.missed_at}
    where id = ${id} and due_at is not distinct from ${due_at}::timestamptz
      and missed_at is not distinct from ${missed_at}::timestamptz`.execute(executor);
};
