import { sql } from 'kysely';
import type { Executor, Tx } from '../database/index.ts';
import { isId } from '../lib/ids.ts';

export type AgentMode = 'worker' | 'conversational';

export interface AgentSettings {
  /** Work Items of the agent that execute at once, over all replicas. */
  max_concurrency: number;
  max_attempts: number;
  timeout_seconds: number;
  max_steps: number;
}

/** What a client may set. */
export interface AgentFields {
  name: string;
  description: string | null;
  instructions: string;
  llm_id: string | null;
  model: string | null;
  tool_server_ids: string[];
  semantic_data_model_ids: string[];
  settings: AgentSettings;
}

export interface Agent extends AgentFields {
  id: string;
  mode: AgentMode;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

type AgentRow = Omit<Agent, 'settings'> & AgentSettings;

declare module '../database/database.ts' {
  interface Schema {
    agents: AgentRow;
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
  'tool_server_ids',
  'semantic_data_model_ids',
  'max_concurrency',
  'max_attempts',
  'timeout_seconds',
  'max_steps',
  'revision',
  'created_at',
  'updated_at',
] as const;

const toAgent = ({ max_concurrency, max_attempts, timeout_seconds, max_steps, ...row }: AgentRow): Agent => ({
  ...row,
  settings: { max_concurrency, max_attempts, timeout_seconds, max_steps },
});

const toRow = ({ settings, ...fields }: AgentFields) => ({ ...fields, ...settings });

/** undefined where there is none, and for a malformed id. */
export const selectAgent = async (executor: Executor, id: string): Promise<Agent | undefined> => {
  if (!isId(id)) return undefined;
  const row = await executor.selectFrom('agents').select(columns).where('id', '=', id).executeTakeFirst();
  return row && toAgent(row);
};

/**
 * For how long others must wait. `use`: it is not deleted before the transaction ends. `change`: nor is it
 * changed, nor locked for a change by another. `delete`: nor used.
 */
export type AgentLock = 'use' | 'change' | 'delete';

export const selectLockedAgent = async (
  tx: Tx,
  id: string,
  strength: AgentLock,
): Promise<Agent | undefined> => {
  if (!isId(id)) return undefined;
  let query = tx.selectFrom('agents').select(columns).where('id', '=', id);
  if (strength === 'use') query = query.forKeyShare();
  else if (strength === 'change') query = query.forNoKeyUpdate();
  else query = query.forUpdate();
  const row = await query.executeTakeFirst();
  return row && toAgent(row);
};

/** Newest first, from below the id `before`, one more than `limit`. */
export const selectAgents = async (
  executor: Executor,
  page: { limit: number; before: string | null },
): Promise<Agent[]> => {
  let query = executor
    .selectFrom('agents')
    .select(columns)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (page.before) query = query.where('id', '<', page.before);
  return (await query.execute()).map(toAgent);
};

export const insertAgent = async (
  tx: Tx,
  id: string,
  mode: AgentMode,
  fields: AgentFields,
): Promise<Agent> => {
  const row = await tx
    .insertInto('agents')
    .values({ id, mode, ...toRow(fields) } as never)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

/** Write all fields of the locked agent and raise its revision. */
export const updateAgent = async (tx: Tx, id: string, fields: AgentFields): Promise<Agent> => {
  const row = await tx
    .updateTable('agents')
    .set({
      ...toRow(fields),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

export const deleteAgentRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('agents').where('id', '=', id).execute();
};
