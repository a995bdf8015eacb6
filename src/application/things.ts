import { type RawBuilder, sql } from '../database/index.ts';

interface Thing {
  /** The table as `t`, with what its name needs. */
  from: RawBuilder<unknown>;
  /** Name, which may be null. */
  name: RawBuilder<unknown>;
  /** Text that tells the row from others with the same name. */
  detail?: RawBuilder<unknown>;
  /** Another text by which it is found. */
  also?: RawBuilder<unknown>;
  /** The agent of a schedule or conversation, whose addresses have it. */
  agentId?: RawBuilder<unknown>;
}

/** All that has a name and a page, by the kinds of the audit log. */
export const things: Readonly<Record<string, Thing>> = {
  agent: { from: sql`agents t`, name: sql`t.name`, detail: sql`t.mode` },
  schedule: {
    from: sql`schedules t join agents a on a.id = t.agent_id`,
    // A schedule has the name of its Work Items; without one that of its agent.
    name: sql`coalesce(t.work_item_name, a.name)`,
    detail: sql`a.name || ', ' || t.cron_expression || ' ' || t.timezone`,
    agentId: sql`t.agent_id`,
  },
  work_item: { from: sql`work_items t`, name: sql`t.work_item_name` },
  conversation: {
    from: sql`conversations t`,
    name: sql`coalesce(t.name, t.title)`,
    agentId: sql`t.agent_id`,
  },
  integration: {
    from: sql`observability_integrations t`,
    name: sql`coalesce(t.description, t.provider)`,
    detail: sql`t.provider`,
    also: sql`t.provider`,
  },
  llm_configuration: {
    from: sql`llm_configurations t`,
    name: sql`t.name`,
    detail: sql`t.kind || ', ' || t.model`,
    also: sql`t.model`,
  },
  tool_server: {
    from: sql`tool_servers t`,
    name: sql`t.name`,
    detail: sql`t.prefix || ', ' || t.transport`,
    also: sql`t.prefix`,
  },
  data_connection: { from: sql`data_connections t`, name: sql`t.name`, detail: sql`t.engine` },
  semantic_data_model: {
    from: sql`semantic_data_models t join data_connections d on d.id = t.data_connection_id`,
    name: sql`t.name`,
    detail: sql`d.name`,
  },
  alert: { from: sql`alerts t`, name: sql`t.title`, agentId: sql`t.agent_id` },
  alert_rule: { from: sql`alert_rules t`, name: sql`t.name`, detail: sql`replace(t.kind, '_', ' ')` },
  channel: { from: sql`channels t`, name: sql`t.name`, detail: sql`t.kind` },
  extraction: { from: sql`extractions t`, name: sql`null::text` },
  user: { from: sql`users t`, name: sql`t.name` },
  role_mapping: { from: sql`role_mappings t`, name: sql`t.claim || ' = ' || t.value` },
  api_key: { from: sql`api_keys t`, name: sql`t.name`, detail: sql`t.prefix` },
};

export const noAgent = sql`null::uuid`;
