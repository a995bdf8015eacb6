import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';

/** What an entry of the audit log was done to, as it is called now. */
export interface TargetRow {
  type: string;
  id: string;
  /** Null if it has none. */
  name: string | null;
  /** The agent of a schedule or conversation, whose addresses have it. */
  agent_id: string | null;
}

/** The query of each kind of target that has a page. */
const named: Record<string, RawBuilder<unknown>> = {
  agent: sql`select t.id, t.name, null::uuid as agent_id from agents t`,
  schedule: sql`select t.id, coalesce(t.work_item_name, a.name) as name, t.agent_id
    from schedules t join agents a on a.id = t.agent_id`,
  work_item: sql`select t.id, t.work_item_name as name, null::uuid as agent_id from work_items t`,
  conversation: sql`select t.id, coalesce(t.name, t.title) as name, t.agent_id from conversations t`,
  integration: sql`select t.id, coalesce(t.description, t.provider) as name, null::uuid as agent_id
    from observability_integrations t`,
  llm_configuration: sql`select t.id, t.name, null::uuid as agent_id from llm_configurations t`,
  tool_server: sql`select t.id, t.name, null::uuid as agent_id from tool_servers t`,
  data_connection: sql`select t.id, t.name, null::uuid as agent_id from data_connections t`,
  semantic_data_model: sql`select t.id, t.name, null::uuid as agent_id from semantic_data_models t`,
  extraction: sql`select t.id, null::text as name, null::uuid as agent_id from extractions t`,
  user: sql`select t.id, t.name, null::uuid as agent_id from users t`,
  role_mapping: sql`select t.id, t.claim || ' = ' || t.value as name, null::uuid as agent_id from role_mappings t`,
  api_key: sql`select t.id, t.name, null::uuid as agent_id from api_keys t`,
};

/** What still exists of `targets`. */
export const listTargets = async (
  executor: Executor,
  targets: readonly { type: string; id: string }[],
): Promise<TargetRow[]> => {
  const ids = new Map<string, Set<string>>();
  for (const { type, id } of targets) {
    if (named[type] && isId(id)) ids.set(type, (ids.get(type) ?? new Set()).add(id));
  }
  const parts = [...ids].map(
    ([type, wanted]) =>
      sql`select ${sql.lit(type)} as type, t.id, t.name, t.agent_id from (${named[type]!}
        where t.id = any(${[...wanted]}::uuid[])) t`,
  );
  if (parts.length === 0) return [];
  return (await sql<TargetRow>`${sql.join(parts, sql` union all `)}`.execute(executor)).rows;
};
