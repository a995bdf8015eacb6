import { type Executor, sql } from '../database/index.ts';

/** The agents that have a server in their `tool_server_ids`. */
export interface ToolServerUses {
  total: number;
  /** The first of them by name. */
  agents: { id: string; name: string }[];
}

const shownAgents = 20;

/** The uses of these servers, by their ids. */
export const listToolServerUses = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, ToolServerUses>> => {
  const { rows } = await sql<{ server_id: string; total: number; id: string; name: string }>`
    with ranked as (
      select u.server_id, a.id, a.name, (count(*) over (partition by u.server_id))::int as total,
        row_number() over (partition by u.server_id order by lower(a.name), a.id) as rank
      from agents a cross join lateral unnest(a.tool_server_ids) as u(server_id)
      where a.tool_server_ids && ${ids}::uuid[] and u.server_id = any(${ids}::uuid[])
    )
    select server_id, total, id, name from ranked where rank <= ${shownAgents} order by rank`.execute(
    executor,
  );
  return new Map(
    ids.map((serverId) => {
      const own = rows.filter(({ server_id }) => server_id === serverId);
      return [serverId, { total: own[0]?.total ?? 0, agents: own.map(({ id, name }) => ({ id, name })) }];
    }),
  );
};
