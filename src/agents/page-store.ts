import { type RecentCost, recentCost } from '../charges/index.ts';
import { type Executor, type Page, type RawBuilder, sql } from '../database/index.ts';
import { idsBeginning } from '../lib/ids.ts';
import type { Agent, AgentMode } from './store.ts';

/** An agent and what it has. Counts end at `mostCounted`. */
export interface AgentSummaryRow
  extends Pick<
    Agent,
    'id' | 'name' | 'description' | 'mode' | 'execution' | 'model' | 'created_at' | 'updated_at'
  > {
  llm_id: string;
  llm_name: string;
  llm_model: string;
  llm_is_default: boolean;
  drafts: number;
  pending: number;
  executing: number;
  needs_review: number;
  indeterminate: number;
  done: number;
  failed: number;
  schedules: number;
  schedules_enabled: number;
  next_run_at: Date | null;
  cost: RecentCost;
}

/** Counts of Work Items and conversations end here: an agent with more costs no more to show. */
const mostCounted = 1_000;

/** The agent that the counts below are of. */
const own = sql`w.agent_id = page.id`;

const counted = (conditions: RawBuilder<unknown>) =>
  sql`(select count(*)::integer from (select from work_items w where ${own} and ${conditions} limit ${mostCounted}) c)`;

/** The condition of the index by agent and status, which it must have literally. */
const resting = (status: 'DRAFT' | 'NEEDS_REVIEW' | 'INDETERMINATE') =>
  counted(sql`w.status = ${sql.lit(status)} and w.status not in ('PENDING', 'EXECUTING')`);

const finished = (status: 'COMPLETED' | 'ERROR') =>
  counted(sql`w.status = ${sql.lit(status)} and w.finished_at is not null
    and w.finished_at > platform_now() - interval '24 hours'`);

const pending = sql`least(${sql.lit(mostCounted)},
  ${counted(sql`w.status = 'PENDING' and w.not_before is null`)}
    + ${counted(sql`w.status = 'PENDING' and w.not_before is not null`)})`;

/**
 * The agents for which `where` holds (of `agents a`), newest first. Each count reads a part of an index of its own.
 */
const summaries = (where: RawBuilder<unknown>, limit: number) => sql<AgentSummaryRow>`
  with page as materialized (
    select a.id, a.name, left(a.description, 500) as description, a.mode, a.execution, a.model, a.llm_id,
      a.created_at, a.updated_at
    from agents a where ${where} order by a.id desc limit ${limit}
  ), executing as (
    select agent_id, count(*)::integer as n from work_items where status = 'EXECUTING' group by agent_id
  )
  select page.id, page.name, page.description, page.mode, page.execution, page.model,
    l.id as llm_id, l.name as llm_name, l.model as llm_model, page.llm_id is null as llm_is_default,
    ${resting('DRAFT')} as drafts, ${pending} as pending, coalesce(executing.n, 0) as executing,
    ${resting('NEEDS_REVIEW')} as needs_review, ${resting('INDETERMINATE')} as indeterminate,
    ${finished('COMPLETED')} as done, ${finished('ERROR')} as failed,
    s.schedules, s.schedules_enabled, s.next_run_at, ${recentCost('agent_id', sql`page.id`)} as cost, page.created_at, page.updated_at
  from page
  cross join llm_defaults d
  join llm_configurations l on l.id = coalesce(page.llm_id, d.llm_id)
  left join executing on executing.agent_id = page.id
  cross join lateral (
    select count(*)::integer as schedules, (count(*) filter (where enabled))::integer as schedules_enabled,
      min(next_run_at) as next_run_at
    from schedules where agent_id = page.id
  ) s
  order by page.id desc`;

export interface AgentFilter {
  /** A part of the name, or the beginning of the id. */
  q?: string | undefined;
  mode?: AgentMode | undefined;
}

/** The names and ids that `q` finds, of agents `a`. */
const found = (q: string): RawBuilder<unknown> => {
  const name = sql`strpos(lower(a.name), lower(${q})) > 0`;
  const ids = idsBeginning(q);
  return ids ? sql`(${name} or a.id between ${ids.first} and ${ids.last})` : name;
};

/** Newest first, and one more than the limit. */
export const listAgentSummaries = async (
  executor: Executor,
  { limit, next, q, mode }: Page & AgentFilter,
): Promise<AgentSummaryRow[]> => {
  const conditions = [
    sql`true`,
    ...(next === null ? [] : [sql`a.id < ${next}`]),
    ...(mode === undefined ? [] : [sql`a.mode = ${mode}`]),
    ...(q === undefined ? [] : [found(q)]),
  ];
  return (await summaries(sql.join(conditions, sql` and `), limit + 1).execute(executor)).rows;
};

export const findAgentSummary = async (
  executor: Executor,
  id: string,
): Promise<AgentSummaryRow | undefined> => (await summaries(sql`a.id = ${id}`, 1).execute(executor)).rows[0];

/** An integration that gets the spans of an agent. */
export interface ScopedIntegrationRow {
  id: string;
  provider: string;
  description: string | null;
  is_enabled: boolean;
  global: boolean;
}

/** The integrations in scope for an agent, newest first. */
export const listScopedIntegrations = async (
  executor: Executor,
  agentId: string,
): Promise<ScopedIntegrationRow[]> => {
  const { rows } = await sql<ScopedIntegrationRow>`
    select i.id, i.provider, i.description, i.is_enabled, bool_or(s.scope = 'global') as global
    from observability_integrations i
    join observability_scopes s on s.integration_id = i.id and (s.scope = 'global' or s.agent_id = ${agentId})
    group by i.id order by i.number desc`.execute(executor);
  return rows;
};

/** Resolves to what agents can be given, by name; at most `mostCounted`. */
export const listNames = async (
  executor: Executor,
  table: 'tool_servers' | 'semantic_data_models',
): Promise<{ id: string; name: string }[]> => {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from ${sql.table(table)} order by lower(name), id limit ${mostCounted}`.execute(executor);
  return rows;
};

/** Resolves to what only the page of one agent shows. `conversations` ends at `mostCounted`. */
export const findAgentFacts = async (
  executor: Executor,
  agentId: string,
): Promise<{ last_span_at: Date | null; conversations: number }> => {
  const { rows } = await sql<{ last_span_at: Date | null; conversations: number }>`
    select (select last_span_at from agent_spans where agent_id = ${agentId}) as last_span_at,
      (select count(*)::integer from (select from conversations where agent_id = ${agentId} limit ${mostCounted}) c)
        as conversations`.execute(executor);
  return rows[0]!;
};
