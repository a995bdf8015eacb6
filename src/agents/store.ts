import type { Callback } from '../callbacks/index.ts';
import {
  type Executor,
  type Json,
  json,
  type Page,
  prepared,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import type { Role } from '../lib/principal.ts';
import type { ToolPolicy } from '../tool-servers/index.ts';
import { type BuiltInToolName, builtInToolNames } from './runtime-fields.ts';

export type AgentMode = 'worker' | 'conversational';

/** Who executes the Work Items of a Worker agent. */
type AgentExecution = 'platform' | 'external';

export interface AgentSettings {
  /** Work Items of the agent that execute at once, over all replicas. */
  max_concurrency: number;
  max_attempts: number;
  timeout_seconds: number;
  max_steps: number;
  /** Input and output tokens of all attempts; null: no limit. */
  max_tokens: number | null;
  /** Tokens of one reply; null: what the LLM configuration says. */
  max_output_tokens: number | null;
  /** Tool calls of one step that run at once. */
  tool_concurrency: number;
  /** The tools of the platform that it has. */
  builtin_tools: BuiltInToolName[];
}

/** What a client may set. */
export interface AgentFields {
  name: string;
  description: string | null;
  instructions: string;
  llm_id: string | null;
  model: string | null;
  /** LLM configurations that take over, in this order. */
  fallback_llm_ids: string[];
  tool_server_ids: string[];
  tool_policies: ToolPolicy[];
  semantic_data_model_ids: string[];
  execution: AgentExecution;
  /** JSON Schema of the result of its Work Items; null: the result is the reply. */
  result_schema: Record<string, unknown> | null;
  /** The lowest role that may decide on its tool calls; null: the default of its mode. */
  approval_role: Role | null;
  settings: AgentSettings;
}

export interface Agent extends AgentFields {
  approval_role: Role;
  id: string;
  mode: AgentMode;
  callbacks: Callback[];
  revision: number;
  created_at: Date;
  updated_at: Date;
}

/** `callbacks` null is an empty list, `builtin_tools` null is all. */
type AgentRow = Omit<Agent, 'settings' | 'callbacks' | 'approval_role'> &
  Omit<AgentSettings, 'builtin_tools'> & {
    callbacks: Callback[] | null;
    approval_role: Role | null;
    builtin_tools: BuiltInToolName[] | null;
  };

type JsonColumn = 'callbacks' | 'tool_policies' | 'result_schema';

declare module '../database/database.ts' {
  interface Schema {
    agents: Table<Omit<AgentRow, JsonColumn>, 'revision' | 'created_at' | 'updated_at'> & {
      callbacks: Json<Callback[] | null>;
      tool_policies: Json<ToolPolicy[]>;
      result_schema: Json<Record<string, unknown> | null>;
    };
  }
}

/** Listed, because a named statement with `*` fails after a migration that adds a column. */
const columns = [
  'id',
  'name',
  'description',
  'mode',
  'instructions',
  'llm_id',
  'model',
  'fallback_llm_ids',
  'tool_server_ids',
  'tool_policies',
  'semantic_data_model_ids',
  'execution',
  'result_schema',
  'approval_role',
  'callbacks',
  'max_concurrency',
  'max_attempts',
  'timeout_seconds',
  'max_steps',
  'max_tokens',
  'max_output_tokens',
  'tool_concurrency',
  'builtin_tools',
  'revision',
  'created_at',
  'updated_at',
] as const;

export const defaultApprovalRole: Record<AgentMode, Role> = { worker: 'builder', conversational: 'member' };

const toAgent = ({
  callbacks,
  approval_role,
  max_concurrency,
  max_attempts,
  timeout_seconds,
  max_steps,
  max_tokens,
  max_output_tokens,
  tool_concurrency,
  builtin_tools,
  ...row
}: AgentRow): Agent => ({
  ...row,
  callbacks: callbacks ?? [],
  approval_role: approval_role ?? defaultApprovalRole[row.mode],
  settings: {
    max_concurrency,
    max_attempts,
    timeout_seconds,
    max_steps,
    max_tokens,
    max_output_tokens,
    tool_concurrency,
    builtin_tools: builtin_tools ?? [...builtInToolNames],
  },
});

const toRow = (
  callbacks: readonly Callback[],
  { settings, tool_policies, result_schema, ...fields }: AgentFields,
) => ({
  ...fields,
  ...settings,
  builtin_tools: builtInToolNames.every((name) => settings.builtin_tools.includes(name))
    ? null
    : [...new Set(settings.builtin_tools)],
  callbacks: json(callbacks),
  tool_policies: json(tool_policies),
  result_schema: result_schema && json(result_schema),
});

/** Newest first. */
export const listAgents = async (executor: Executor, page: Page): Promise<Agent[]> =>
  (await selectPage(executor.selectFrom('agents').select(columns), page)).map(toAgent);

const agentById = prepared((executor, values: { id: string }) =>
  executor.selectFrom('agents').select(columns).where('id', '=', values.id).compile(),
);

export const findAgent = async (executor: Executor, id: string): Promise<Agent | undefined> => {
  const [row] = await agentById(executor, { id });
  return row && toAgent(row);
};

export const findAgents = async (executor: Executor, ids: readonly string[]): Promise<Agent[]> => {
  const rows = await executor
    .selectFrom('agents')
    .select(columns)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
  return rows.map(toAgent);
};

/**
 * What a lock blocks until the transaction ends. `share`: deleting the agent. `update`: also changing it, and `update`
 * locks. `delete`: also `share` locks.
 */
export type AgentLock = 'share' | 'update' | 'delete';

/** The agent, locked until the transaction ends. */
export const findLockedAgent = async (tx: Tx, id: string, lock: AgentLock): Promise<Agent | undefined> => {
  const query = tx.selectFrom('agents').select(columns).where('id', '=', id);
  const locked = {
    share: () => query.forKeyShare(),
    update: () => query.forNoKeyUpdate(),
    delete: () => query.forUpdate(),
  }[lock]();
  const row = await locked.executeTakeFirst();
  return row && toAgent(row);
};

/**
 * Locks the agent as `update` does. Returns its mode and the database's time once the lock is held: `platform_now()` is
 * when the statement began, before it waited.
 */
export const lockMode = prepared((executor, values: { id: string }) =>
  sql<{ mode: AgentMode; now: Date }>`with locked as materialized (
      select mode from agents where id = ${values.id} for no key update)
    select mode, (platform_now() + (clock_timestamp() - statement_timestamp()))::timestamptz(3) as now from locked`.compile(
    executor,
  ),
);

export const insertAgent = async (
  tx: Tx,
  id: string,
  mode: AgentMode,
  callbacks: readonly Callback[],
  fields: AgentFields,
): Promise<Agent> => {
  const row = await tx
    .insertInto('agents')
    .values({ id, mode, ...toRow(callbacks, fields) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

/** Writes all fields of the locked agent and raises its revision. */
export const updateAgentRow = async (
  tx: Tx,
  id: string,
  callbacks: readonly Callback[],
  fields: AgentFields,
): Promise<Agent> => {
  const row = await tx
    .updateTable('agents')
    .set({
      ...toRow(callbacks, fields),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

/** The ids of at most `limit` agents that have `id` in the field. */
export const listAgentsNaming = async (
  tx: Tx,
  field: 'tool_server_ids' | 'semantic_data_model_ids',
  id: string,
  limit: number,
): Promise<string[]> => {
  const rows = await tx
    .selectFrom('agents')
    .select('id')
    .where(field, '@>', sql<string[]>`array[${id}::uuid]`)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
};

export const deleteAgentRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('agents').where('id', '=', id).execute();
};
