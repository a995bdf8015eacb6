import { audit } from '../audit/index.ts';
import {
  type CallbackStore,
  type ChangedCallback,
  checkChangedCallbacks,
  type NewCallback,
} from '../callbacks/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { ApiError, badRequest, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { lockLlmForShare } from '../llm-configurations/index.ts';
import { lockSemanticDataModelsForShare } from '../semantic-data-models/index.ts';
import { lockToolServersForShare } from '../tool-servers/index.ts';
import { builtInToolNames } from './runtime-fields.ts';
import {
  type Agent,
  type AgentFields,
  type AgentLock,
  type AgentMode,
  type AgentSettings,
  deleteAgentRow,
  findAgent,
  findAgents,
  findLockedAgent,
  insertAgent,
  listAgentsNaming,
  lockMode,
  updateAgentRow,
} from './store.ts';

/** What other features do in the transaction that changes an agent. */
export interface AgentHooks {
  callbacks: CallbackStore;
  /** Called before the row of the agent is deleted, and the rows that depend on it. */
  beforeDelete: (tx: Tx, agentId: string) => Promise<void>;
  /** Called after the row of the agent and the rows that depend on it are deleted. */
  onDelete: (tx: Tx, agentId: string, actor: Actor) => Promise<void>;
  /** Called after the settings or the execution changed: more Work Items may be claimed now. */
  onSettings: (tx: Tx) => Promise<void>;
}

export const defaultAgentSettings: AgentSettings = {
  max_concurrency: 4,
  max_attempts: 3,
  timeout_seconds: 600,
  max_steps: 20,
  max_tokens: null,
  max_output_tokens: null,
  tool_concurrency: 4,
  builtin_tools: [...builtInToolNames],
};

/** Changes of settings: an absent one stays as it is, null resets it to its default. */
export type SettingChanges = { [K in keyof AgentSettings]?: AgentSettings[K] | null | undefined };

/** Returns the agent. Throws 404 if there is none, also for a malformed id. */
export const getAgent = async (executor: Executor, id: string): Promise<Agent> => {
  const agent = isId(id) ? await findAgent(executor, id) : undefined;
  if (!agent) throw notFound('agent');
  return agent;
};

/** Returns the agents that have these ids and exist. */
export const getAgents = (executor: Executor, ids: readonly string[]): Promise<Agent[]> =>
  findAgents(executor, ids.filter(isId));

/** Returns the agent, locked until the transaction ends. Throws 404 if there is none. */
export const lockAgent = async (tx: Tx, id: string, lock: AgentLock = 'update'): Promise<Agent> => {
  const agent = isId(id) ? await findLockedAgent(tx, id, lock) : undefined;
  if (!agent) throw notFound('agent');
  return agent;
};

/**
 * Locks the agent, so that what is counted of it stays true until the transaction ends. Returns its mode and the
 * database's time, once the lock is held. Throws 404 if there is none.
 */
export const lockAgentMode = async (tx: Tx, id: string): Promise<{ mode: AgentMode; now: Date }> => {
  const [locked] = isId(id) ? await lockMode(tx, { id }) : [];
  if (!locked) throw notFound('agent');
  return locked;
};

/** Locks the agent so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockAgentForShare = async (tx: Tx, id: string): Promise<boolean> =>
  isId(id) && (await findLockedAgent(tx, id, 'share')) !== undefined;

/** How many agents an error names that keep something from being deleted. */
const shownAgents = 10;

const namedBy = {
  tool_server_ids: 'tool server',
  semantic_data_model_ids: 'semantic data model',
} as const;

/** Throws 412 with `agent_ids` while agents have `id` in the field: it must not be deleted. */
export const checkUnused = async (tx: Tx, field: keyof typeof namedBy, id: string): Promise<void> => {
  const agentIds = await listAgentsNaming(tx, field, id, shownAgents);
  if (agentIds.length === 0) return;
  throw new ApiError(
    'precondition_failed',
    `Agents use this ${namedBy[field]}. Take it from their ${field} first.`,
    { agent_ids: agentIds },
  );
};

/** Throws 400 with `message` if the agent is not a Worker agent. */
export const requireWorker = (agent: Pick<Agent, 'mode'>, message: string): void => {
  if (agent.mode !== 'worker') throw badRequest(message);
};

/** Throws 400 for what only an agent with Work Items can have. */
export const checkWorkerFields = (
  mode: unknown,
  { execution, result_schema }: { execution?: unknown; result_schema?: unknown },
): void => {
  if (mode !== 'conversational') return;
  if (execution === 'external') throw badRequest('execution: only a worker agent can be `external`.');
  if (result_schema != null) throw badRequest('result_schema: only a worker agent can have one.');
};

/** Returns `before` with the keys of `changes`. null resets a key to its default. */
export const mergeSettings = (before: AgentSettings, changes: SettingChanges): AgentSettings => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const values = given.map(([name, value]) => [
    name,
    value ?? defaultAgentSettings[name as keyof AgentSettings],
  ]);
  return { ...before, ...(Object.fromEntries(values) as Partial<AgentSettings>) };
};

type References = Pick<
  AgentFields,
  'llm_id' | 'fallback_llm_ids' | 'tool_server_ids' | 'tool_policies' | 'semantic_data_model_ids'
>;

/** Throws 422 that names each field with an unknown id. What is referred to is locked for share. */
const checkReferences = async (tx: Tx, fields: Partial<References>): Promise<void> => {
  const faults: Fault[] = [];
  const { llm_id } = fields;
  const isLlm = async (id: string) => isId(id) && (await lockLlmForShare(tx, id));
  const unknownLlm = llm_id != null && !(await isLlm(llm_id));
  if (unknownLlm) faults.push({ path: 'llm_id', message: 'is not an LLM configuration' });
  for (const [i, id] of (fields.fallback_llm_ids ?? []).entries()) {
    if (await isLlm(id)) continue;
    faults.push({ path: `fallback_llm_ids[${i}]`, message: 'is not an LLM configuration' });
  }
  const toolServerIds = (fields.tool_server_ids ?? []).map((id) => id.toLowerCase());
  const policyIds = (fields.tool_policies ?? []).map(({ tool_server_id }) => tool_server_id.toLowerCase());
  const toolServers = await lockToolServersForShare(tx, [...toolServerIds, ...policyIds].filter(isId));
  for (const [i, id] of toolServerIds.entries()) {
    if (!toolServers.has(id)) faults.push({ path: `tool_server_ids[${i}]`, message: 'is not a tool server' });
  }
  for (const [i, id] of policyIds.entries()) {
    if (toolServers.has(id)) continue;
    faults.push({ path: `tool_policies[${i}].tool_server_id`, message: 'is not a tool server' });
  }
  const modelIds = (fields.semantic_data_model_ids ?? []).map((id) => id.toLowerCase());
  const models = await lockSemanticDataModelsForShare(tx, modelIds.filter(isId));
  for (const [i, id] of modelIds.entries()) {
    if (models.has(id)) continue;
    faults.push({ path: `semantic_data_model_ids[${i}]`, message: 'is not a semantic data model' });
  }
  if (faults.length > 0) throw unprocessable(faults, unknownLlm ? { llm_id } : {});
};

/** Returns the agent as the response shows it: with the secrets that were generated for its callbacks. */
export const createAgent = async (
  tx: Tx,
  actor: Actor,
  { callbacks }: AgentHooks,
  { mode, callbacks: given, ...fields }: AgentFields & { mode: AgentMode; callbacks: NewCallback[] },
): Promise<Agent> => {
  await checkReferences(tx, fields);
  const id = newId();
  const { stored, shown } = await callbacks.add(tx, { agentId: id }, given);
  const agent = await insertAgent(tx, id, mode, stored, fields);
  await audit(tx, actor, 'agent.create', agent.id, { name: agent.name, mode });
  return { ...agent, callbacks: shown };
};

export type AgentChanges = Partial<Omit<AgentFields, 'settings'>> & {
  mode?: AgentMode;
  /** Replaces all. */
  callbacks?: ChangedCallback[];
  settings?: SettingChanges;
};

/** Throws 400 or 422 if the locked agent cannot have these changes. */
const checkChanges = async (tx: Tx, before: Agent, changes: AgentChanges): Promise<void> => {
  checkWorkerFields(before.mode, changes);
  if (changes.mode !== undefined && changes.mode !== before.mode) {
    throw unprocessable([{ path: 'mode', message: `cannot be changed; this agent's is ${before.mode}` }]);
  }
  checkChangedCallbacks(before.callbacks, changes.callbacks ?? []);
  await checkReferences(tx, changes);
};

/**
 * Changes the fields that `changes` has. Throws 400 or 422 for what the agent cannot have. `ifMatch` is called for the
 * locked row, after these checks. Returns the agent as the response shows it.
 */
export const updateAgent = async (
  tx: Tx,
  actor: Actor,
  hooks: AgentHooks,
  id: string,
  changes: AgentChanges,
  ifMatch: (revision: number) => void = () => {},
): Promise<Agent> => {
  const before = await lockAgent(tx, id);
  await checkChanges(tx, before, changes);
  ifMatch(before.revision);
  const { mode: _, settings, callbacks: given, ...fields } = changes;
  const { stored, shown } = given
    ? await hooks.callbacks.replace(tx, before.id, before.callbacks, given)
    : { stored: before.callbacks, shown: before.callbacks };
  const after = await updateAgentRow(tx, before.id, stored, {
    name: before.name,
    description: before.description,
    instructions: before.instructions,
    llm_id: before.llm_id,
    model: before.model,
    fallback_llm_ids: before.fallback_llm_ids,
    tool_server_ids: before.tool_server_ids,
    tool_policies: before.tool_policies,
    semantic_data_model_ids: before.semantic_data_model_ids,
    execution: before.execution,
    result_schema: before.result_schema,
    approval_role: before.approval_role,
    ...fields,
    settings: mergeSettings(before.settings, settings ?? {}),
  });
  if (settings || fields.execution) await hooks.onSettings(tx);
  const changed = [
    ...Object.keys(fields),
    ...(settings ? ['settings'] : []),
    ...(given ? ['callbacks'] : []),
  ];
  await audit(tx, actor, 'agent.update', after.id, { name: after.name, changed });
  return { ...after, callbacks: shown };
};

/**
 * Deletes the agent. `ifMatch` is called for the locked row. The database deletes its schedules and scopes with it. `onDelete` is called after
 * that: a firing in progress holds the row of its schedule, so once that row is deleted no Work Item can be created
 * unnoticed. Its callbacks go last, so that they are notified of the Work Items that `onDelete` cancels.
 */
export const deleteAgent = async (
  tx: Tx,
  actor: Actor,
  hooks: AgentHooks,
  id: string,
  ifMatch: (revision: number) => void = () => {},
): Promise<void> => {
  const agent = await lockAgent(tx, id, 'delete');
  ifMatch(agent.revision);
  await hooks.beforeDelete(tx, agent.id);
  await deleteAgentRow(tx, agent.id);
  await hooks.onDelete(tx, agent.id, actor);
  await hooks.callbacks.removeOf(tx, agent.id);
  await audit(tx, actor, 'agent.delete', agent.id, { name: agent.name });
};
