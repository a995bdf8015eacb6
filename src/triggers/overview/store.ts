import { type Executor, instant, spanOf, sql } from '../../database/index.ts';
import { isBlocked, watchedExists } from '../store.ts';
import { blockedReason } from '../view.ts';

/** Events of one span of time by what became of them: `at` is its beginning. */
export interface EventCount {
  at: number;
  became: 'fired' | 'other' | 'failed';
  n: number;
}

/** Counts that are no events: further deliveries, and requests that were refused. */
const isEvent = sql`outcome not in ('refused', 'repeated')`;

/** Started a Work Item; could start none, though it was asked for; anything else. */
const became = sql`case when outcome = 'fired' then 'fired' when outcome in ('invalid', 'lost') then 'failed' else 'other' end`;

/** The events that were received at `from` or later, counted in spans of `stepMs`. */
export const countEvents = async (
  executor: Executor,
  from: number,
  stepMs: number,
): Promise<EventCount[]> => {
  const { rows } = await sql<EventCount>`
    select ${spanOf(sql`minute`, stepMs)} as at, ${became} as became, sum(count)::int as n
    from trigger_event_counts where minute >= ${instant(from)} and ${isEvent} group by 1, 2`.execute(
    executor,
  );
  return rows;
};

/** Events of the triggers of an agent in a bucket: the `k`th from `from` on. */
export interface AgentEventCount {
  agent_id: string;
  k: number;
  became: EventCount['became'];
  n: number;
}

/** The events of the triggers of agents in [from, to), counted in buckets of `stepMs`. An event counts at its minute. */
export const countEventsOfAgents = async (
  executor: Executor,
  agentIds: readonly string[],
  { from, to, stepMs }: { from: Date; to: Date; stepMs: number },
): Promise<AgentEventCount[]> => {
  const { rows } = await sql<AgentEventCount>`
    select t.agent_id, floor(date_part('epoch', c.minute - ${from}::timestamptz) * 1000 / ${stepMs}::float8)::int as k,
      ${became} as became, sum(c.count)::int as n
    from triggers t join trigger_event_counts c on c.trigger_id = t.id
    where t.agent_id = any(${agentIds}::uuid[]) and c.minute >= ${from} and c.minute < ${to} and ${isEvent}
    group by 1, 2, 3`.execute(executor);
  return rows;
};

/** Triggers by whether they receive events. */
export interface StateCounts {
  enabled: number;
  paused: number;
  blocked: number;
}

export const countStates = async (executor: Executor, allowUnsigned: boolean): Promise<StateCounts> => {
  const blocked = isBlocked(allowUnsigned);
  const { rows } = await sql<StateCounts>`
    select count(*) filter (where t.enabled and not ${blocked})::int as enabled,
      count(*) filter (where not t.enabled)::int as paused, count(*) filter (where ${blocked})::int as blocked
    from triggers t`.execute(executor);
  return rows[0]!;
};

/** A trigger that a line of the Overview is about. */
export interface AttentionTrigger {
  id: string;
  name: string;
  agent_id: string;
  agent_name: string;
}

const named = sql`t.id, t.name, a.id as agent_id, a.name as agent_name`;

export interface BlockedTrigger extends AttentionTrigger {
  reason: string;
}

/** The triggers that are enabled and receive nothing, each with the reason. */
export const listBlocked = async (executor: Executor, allowUnsigned: boolean): Promise<BlockedTrigger[]> => {
  const { rows } = await sql<AttentionTrigger & Parameters<typeof blockedReason>[0]>`
    select ${named}, t.kind, t.scheme, t.blocked_reason, ${watchedExists} as watched_exists
    from triggers t join agents a on a.id = t.agent_id where ${isBlocked(allowUnsigned)} order by t.id`.execute(
    executor,
  );
  return rows.map((row) => ({ ...row, reason: blockedReason(row, allowUnsigned)! }));
};

export interface BehindTrigger extends AttentionTrigger {
  unread: number;
  since: Date;
  last_error: string | null;
}

/** The triggers that have had many unread messages for longer than `seconds`, the oldest first. */
export const listBehind = async (executor: Executor, seconds: number): Promise<BehindTrigger[]> => {
  const { rows } = await sql<BehindTrigger>`
    select ${named}, r.lag as unread, r.behind_since as since, r.last_error
    from trigger_readings r join triggers t on t.id = r.trigger_id join agents a on a.id = t.agent_id
    where t.enabled and r.behind_since < platform_now() - ${seconds} * interval '1 second'
    order by r.behind_since, t.id`.execute(executor);
  return rows;
};

export interface HourCount extends AttentionTrigger {
  outcome: 'invalid' | 'refused';
  /** For refused requests the reason; else empty. */
  reason: string;
  n: number;
  since: Date;
}

/** The events that were invalid, and the requests that were refused, in the last hour: by trigger and reason, most first. */
export const countFaultsOfHour = async (executor: Executor): Promise<HourCount[]> => {
  const { rows } = await sql<HourCount>`
    select ${named}, c.outcome, c.reason, sum(c.count)::int as n, min(c.minute) as since
    from trigger_event_counts c join triggers t on t.id = c.trigger_id join agents a on a.id = t.agent_id
    where c.minute > platform_now() - interval '1 hour' and c.outcome in ('invalid', 'refused')
    group by t.id, a.id, c.outcome, c.reason order by n desc, t.id`.execute(executor);
  return rows;
};
