import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { badRequest, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import {
  type Agent,
  type AgentFields,
  type AgentLock,
  type AgentMode,
  type AgentSettings,
  deleteAgentRow,
  insertAgent,
  selectAgent,
  selectLockedAgent,
  updateAgent,
} from './store.ts';

/** Whether what an agent refers to exists, asked in the transaction that stores the reference. */
type Exists = (tx: Tx, id: string) => Promise<boolean>;

/** What agents refer to or must tell, but may not import. */
export interface AgentHooks {
  llmExists: Exists;
  toolServerExists: Exists;
  semanticDataModelExists: Exists;
  /** Called in the transaction that deleted the agent, after its row and all that hangs on it are gone. */
  onDelete: readonly ((tx: Tx, agentId: string, principal: Principal) => Promise<void>)[];
  /** Called in the transaction that changed the settings: more may run at once now. */
  onSettings: readonly ((tx: Tx) => Promise<void>)[];
}

interface Actor {
  principal: Principal;
  requestId: string;
}

export const defaultAgentSettings: AgentSettings = {
  max_concurrency: 4,
  max_attempts: 3,
  timeout_seconds: 600,
  max_steps: 20,
};

/** The agent; 404 where there is none, also for a malformed id. */
export const findAgent = async (executor: Executor, id: string): Promise<Agent> => {
  const agent = await selectAgent(executor, id);
  if (!agent) throw notFound('agent');
  return agent;
};

/** The agent, which nobody else changes, deletes or locks until the transaction ends; 404 where there is none. */
export const lockAgent = async (tx: Tx, id: string, strength: AgentLock = 'change'): Promise<Agent> => {
  const agent = await selectLockedAgent(tx, id, strength);
  if (!agent) throw notFound('agent');
  return agent;
};

/** Keep the agent from being deleted until the transaction ends; false where there is none. */
export const lockAgentForShare = async (tx: Tx, id: string): Promise<boolean> =>
  (await selectLockedAgent(tx, id, 'use')) !== undefined;

/** 400 with `message` where the agent is no Worker agent. */
export const requireWorker = (agent: Pick<Agent, 'mode'>, message: string): void => {
  if (agent.mode !== 'worker') throw badRequest(message);
};

/** Settings as they were, with the keys of `changes`; null gives the default back. */
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

/** 422 that names each field whose value is the id of nothing. */
const checkReferences = async (tx: Tx, hooks: AgentHooks, fields: Partial<AgentFields>): Promise<void> => {
  const faults: Fault[] = [];
  const unknown = async (exists: Exists, id: string) => !isId(id) || !(await exists(tx, id));
  const { llm_id } = fields;
  const unknownLlm = llm_id != null && (await unknown(hooks.llmExists, llm_id));
  if (unknownLlm) faults.push({ path: 'llm_id', message: 'is no LLM configuration' });
  for (const [i, id] of (fields.tool_server_ids ?? []).entries()) {
    if (await unknown(hooks.toolServerExists, id)) {
      faults.push({ path: `tool_server_ids[${i}]`, message: 'is no tool server' });
    }
  }
  for (const [i, id] of (fields.semantic_data_model_ids ?? []).entries()) {
    if (await unknown(hooks.semanticDataModelExists, id)) {
      faults.push({ path: `semantic_data_model_ids[${i}]`, message: 'is no semantic data model' });
    }
  }
  if (faults.length > 0) throw unprocessable(faults, unknownLlm ? { llm_id } : {});
};

export const createAgent = async (
  tx: Tx,
  hooks: AgentHooks,
  mode: AgentMode,
  fields: AgentFields,
  { principal, requestId }: Actor,
): Promise<Agent> => {
  await checkReferences(tx, hooks, fields);
  const agent = await insertAgent(tx, newId(), mode, fields);
  await audit(tx, principal, {
    action: 'agent.create',
    targetType: 'agent',
    targetId: agent.id,
    details: { name: agent.name, mode },
    requestId,
  });
  return agent;
};

export type AgentChanges = Partial<Omit<AgentFields, 'settings'>> & {
  mode?: AgentMode;
  settings?: Partial<Record<keyof AgentSettings, number | null>>;
};

/** Change the fields that `changes` has. `check` is called with the locked agent, after the checks of the body. */
export const changeAgent = async (
  tx: Tx,
  hooks: AgentHooks,
  id: string,
  { mode, settings, ...fields }: AgentChanges,
  check: (agent: Agent) => void,
  { principal, requestId }: Actor,
): Promise<Agent> => {
  const before = await lockAgent(tx, id);
  if (mode !== undefined && mode !== before.mode) {
    throw unprocessable([{ path: 'mode', message: `never changes; this agent's is ${before.mode}` }]);
  }
  await checkReferences(tx, hooks, fields);
  check(before);
  const { name, description, instructions, llm_id, model, tool_server_ids, semantic_data_model_ids } = before;
  const after = await updateAgent(tx, id, {
    name,
    description,
    instructions,
    llm_id,
    model,
    tool_server_ids,
    semantic_data_model_ids,
    ...fields,
    settings: mergeSettings(before.settings, settings ?? {}),
  });
  if (settings) for (const told of hooks.onSettings) await told(tx);
  await audit(tx, principal, {
    action: 'agent.update',
    targetType: 'agent',
    targetId: id,
    details: { name: after.name, changed: [...Object.keys(fields), ...(settings ? ['settings'] : [])] },
    requestId,
  });
  return after;
};

/**
 * Delete the agent; the database removes its schedules and scopes with it. The hooks come after that: a firing
 * in progress holds its schedule's row, so once the row is gone no Work Item can come any more unseen.
 */
export const deleteAgent = async (
  tx: Tx,
  hooks: AgentHooks,
  id: string,
  check: (agent: Agent) => void,
  { principal, requestId }: Actor,
): Promise<void> => {
  const agent = await lockAgent(tx, id, 'delete');
  check(agent);
  await deleteAgentRow(tx, id);
  for (const told of hooks.onDelete) await told(tx, id, principal);
  await audit(tx, principal, {
    action: 'agent.delete',
    targetType: 'agent',
    targetId: id,
    details: { name: agent.name },
    requestId,
  });
};
