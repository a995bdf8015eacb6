import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { badRequest, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { lockLlmForShare } from '../llm-configurations/index.ts';
import {
  type Agent,
  type AgentFields,
  type AgentLock,
  type AgentMode,
  type AgentSettings,
  deleteAgentRow,
  findAgent,
  findLockedAgent,
  insertAgent,
  updateAgentRow,
} from './store.ts';

/** What other features do in the transaction that changes an agent. */
export interface AgentHooks {
  /** Called after the row of the agent and the rows that depend on it are deleted. */
  onDelete: (tx: Tx, agentId: string, actor: Actor) => Promise<void>;
  /** Called after the settings changed: more Work Items may execute at once now. */
  onSettings: (tx: Tx) => Promise<void>;
}

export const defaultAgentSettings: AgentSettings = {
  max_concurrency: 4,
  max_attempts: 3,
  timeout_seconds: 600,
  max_steps: 20,
};

/** Returns the agent. Throws 404 if there is none, also for a malformed id. */
export const getAgent = async (executor: Executor, id: string): Promise<Agent> => {
  const agent = isId(id) ? await findAgent(executor, id) : undefined;
  if (!agent) throw notFound('agent');
  return agent;
};

/** Returns the agent, locked until the transaction ends. Throws 404 if there is none. */
export const lockAgent = async (tx: Tx, id: string, lock: AgentLock = 'update'): Promise<Agent> => {
  const agent = isId(id) ? await findLockedAgent(tx, id, lock) : undefined;
  if (!agent) throw notFound('agent');
  return agent;
};

/** Locks the agent so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockAgentForShare = async (tx: Tx, id: string): Promise<boolean> =>
  isId(id) && (await findLockedAgent(tx, id, 'share')) !== undefined;

/** Throws 400 with `message` if the agent is not a Worker agent. */
export const requireWorker = (agent: Pick<Agent, 'mode'>, message: string): void => {
  if (agent.mode !== 'worker') throw badRequest(message);
};

/** Returns `before` with the keys of `changes`. null resets a key to its default. */
export const mergeSettings = (
  before: AgentSettings,
  changes: Partial<Record<keyof AgentSettings, number | null>>,
): AgentSettings => {
  const merged = { ...before };
  for (const name of Object.keys(defaultAgentSettings) as (keyof AgentSettings)[]) {
    const value = changes[name];
    if (value !== undefined) merged[name] = value ?? defaultAgentSettings[name];
  }
  return merged;
};

type References = Pick<AgentFields, 'llm_id' | 'tool_server_ids' | 'semantic_data_model_ids'>;

/** Throws 422 that names each field with an unknown id. What is referred to is locked for share. */
const checkReferences = async (tx: Tx, fields: Partial<References>): Promise<void> => {
  const faults: Fault[] = [];
  const { llm_id } = fields;
  const unknownLlm = llm_id != null && !(isId(llm_id) && (await lockLlmForShare(tx, llm_id)));
  if (unknownLlm) faults.push({ path: 'llm_id', message: 'is not an LLM configuration' });
  // There are no tool servers and semantic data models yet, so every id is unknown.
  for (const i of (fields.tool_server_ids ?? []).keys()) {
    faults.push({ path: `tool_server_ids[${i}]`, message: 'is not a tool server' });
  }
  for (const i of (fields.semantic_data_model_ids ?? []).keys()) {
    faults.push({ path: `semantic_data_model_ids[${i}]`, message: 'is not a semantic data model' });
  }
  if (faults.length > 0) throw unprocessable(faults, unknownLlm ? { llm_id } : {});
};

export const createAgent = async (
  tx: Tx,
  actor: Actor,
  mode: AgentMode,
  fields: AgentFields,
): Promise<Agent> => {
  await checkReferences(tx, fields);
  const agent = await insertAgent(tx, newId(), mode, fields);
  await audit(tx, actor, 'agent.create', agent.id, { name: agent.name, mode });
  return agent;
};

export type AgentChanges = Partial<Omit<AgentFields, 'settings'>> & {
  mode?: AgentMode;
  settings?: Partial<Record<keyof AgentSettings, number | null>>;
};

/** Throws 422 if the locked agent cannot have these changes. */
export const checkChanges = async (tx: Tx, before: Agent, changes: AgentChanges): Promise<void> => {
  if (changes.mode !== undefined && changes.mode !== before.mode) {
    throw unprocessable([{ path: 'mode', message: `cannot be changed; this agent's is ${before.mode}` }]);
  }
  await checkReferences(tx, changes);
};

/** Changes the fields that `changes` has. `before` is locked, and `changes` are checked. */
export const updateAgent = async (
  tx: Tx,
  actor: Actor,
  hooks: AgentHooks,
  before: Agent,
  { mode: _, settings, ...fields }: AgentChanges,
): Promise<Agent> => {
  const after = await updateAgentRow(tx, before.id, {
    name: before.name,
    description: before.description,
    instructions: before.instructions,
    llm_id: before.llm_id,
    model: before.model,
    tool_server_ids: before.tool_server_ids,
    semantic_data_model_ids: before.semantic_data_model_ids,
    ...fields,
    settings: mergeSettings(before.settings, settings ?? {}),
  });
  if (settings) await hooks.onSettings(tx);
  const changed = [...Object.keys(fields), ...(settings ? ['settings'] : [])];
  await audit(tx, actor, 'agent.update', after.id, { name: after.name, changed });
  return after;
};

/**
 * Deletes the agent, which is locked; the database deletes its schedules and scopes with it. `onDelete` is called after
 * that: a firing in progress holds the row of its schedule, so once that row is deleted no Work Item can be created
 * unnoticed.
 */
export const deleteAgent = async (tx: Tx, actor: Actor, hooks: AgentHooks, agent: Agent): Promise<void> => {
  await deleteAgentRow(tx, agent.id);
  await hooks.onDelete(tx, agent.id, actor);
  await audit(tx, actor, 'agent.delete', agent.id, { name: agent.name });
};
