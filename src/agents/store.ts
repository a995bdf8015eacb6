import { type Executor, type Page, selectPage, sql, type Table, type Tx } from '../database/index.ts';

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
    agents: Table<AgentRow, 'revision' | 'created_at' | 'updated_at'>;
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

/** Newest first. */
export const listAgents = async (executor: Executor, page: Page): Promise<Agent[]> =>
  (await selectPage(executor.selectFrom('agents').select(columns), page)).map(toAgent);

export const findAgent = async (executor: Executor, id: string): Promise<Agent | undefined> => {
  const row = await executor.selectFrom('agents').select(columns).where('id', '=', id).executeTakeFirst();
  return row && toAgent(row);
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

export const insertAgent = async (
  tx: Tx,
  id: string,
  mode: AgentMode,
  fields: AgentFields,
): Promise<Agent> => {
  const row = await tx
    .insertInto('agents')
    .values({ id, mode, ...toRow(fields) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

/** Writes all fields of the locked agent and raises its revision. */
export const updateAgentRow = async (tx: Tx, id: string, fields: AgentFields): Promise<Agent> => {
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
