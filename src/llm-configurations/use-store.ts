import { type Executor, sql } from '../database/index.ts';

/** Which agents use an LLM configuration. */
export interface LlmUses {
  is_default: boolean;
  used_by: {
    /** Agents that name it, as their model or as one that takes over. */
    total: number;
    /** The first of them by name. */
    agents: { id: string; name: string }[];
    /** Agents that name none, and so use the default. */
    by_default: number;
  };
}

const shownAgents = 20;

const listNaming = async (executor: Executor, ids: readonly string[]) => {
  const { rows } = await sql<{ llm_id: string; total: number; id: string; name: string }>`
    with used as (
      select distinct u.llm_id, a.id, a.name
      from agents a cross join lateral unnest(a.fallback_llm_ids || a.llm_id) as u(llm_id)
      where u.llm_id = any(${ids}::uuid[])
    ), ranked as (
      select *, count(*) over (partition by llm_id) as total,
        row_number() over (partition by llm_id order by lower(name), id) as rank
      from used
    )
    select llm_id, total, id, name from ranked where rank <= ${shownAgents} order by rank`.execute(executor);
  return rows;
};

const findDefaultUse = async (executor: Executor): Promise<{ llm_id: string; agents: number }> => {
  const { rows } = await sql<{ llm_id: string; agents: number }>`
    select llm_id, (select count(*)::integer from agents where agents.llm_id is null) as agents from llm_defaults`.execute(
    executor,
  );
  return rows[0]!;
};

/** The uses of these configurations, by their ids. */
export const listLlmUses = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, LlmUses>> => {
  const naming = await listNaming(executor, ids);
  const byDefault = await findDefaultUse(executor);
  return new Map(
    ids.map((llmId) => {
      const own = naming.filter(({ llm_id }) => llm_id === llmId);
      const is_default = byDefault.llm_id === llmId;
      const used_by = {
        total: own[0]?.total ?? 0,
        agents: own.map(({ id, name }) => ({ id, name })),
        by_default: is_default ? byDefault.agents : 0,
      };
      return [llmId, { is_default, used_by }];
    }),
  );
};
