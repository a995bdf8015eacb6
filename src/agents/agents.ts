import { audit } from '../audit/index.ts';
import { type CallbackStore, checkChangedCallbacks } from '../callbacks/index.ts';
import { type Executor, json, type Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { lockLlmForShare } from '../llm-configurations/index.ts';
import type { Referred } from '../resource/index.ts';
import { lockSemanticDataModelsForShare } from '../semantic-data-models/index.ts';
import { lockToolServersForShare } from '../tool-servers/index.ts';
import { type GateOptions, lockGate } from './gate-rules.ts';
import { checkMayLoosen } from './loosening.ts';
import {
  type Agent,
  type AgentChanges,
  type AgentFields,
  type AgentLock,
  type AgentMode,
  agents,
  defaultApprovalRole,
  deleteAgentRow,
  findAgent,
  findLockedAgent,
  insertAgent,
  listAgentsGatedBy,
  listAgentsNaming,
  lockMode,
  updateAgentRow,
} from './store.ts';
import { cancelCheck } from './versions/cancel-check.ts';
import { withDraft } from './versions/content.ts';
import type { PublicationEnds } from './versions/ends.ts';
import type { Gatekeeper } from './versions/gatekeeper.ts';
import { releaseOf } from './versions/release.ts';
import { setFirstAuthor } from './versions/store.ts';

/** The work of other features in the transaction that changes an agent. */
export interface AgentHooks {
  callbacks: CallbackStore;
  /** Called before the row of the agent is deleted, and the rows that depend on it. */
  beforeDelete: (tx: Tx, agentId: string) => Promise<void>;
  /** Called after the row of the agent and the rows that depend on it are deleted. */
  onDelete: (tx: Tx, agentId: string, actor: Actor) => Promise<void>;
  /** Called after the settings or the execution changed: more Work Items may be claimed now. */
  onSettings: (tx: Tx) => Promise<void>;
  /** Returns the gatekeeper, which runs the checks of gates. */
  gatekeeper: () => Gatekeeper;
  /** Called when a publication ends. */
  ended: PublicationEnds['ended'];
}

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

/** The most agents that an error names because they keep something from being deleted. */
const shownAgents = 10;

const namedBy = {
  tool_server_ids: 'tool server',
  semantic_data_model_ids: 'semantic data model',
  gate: 'dataset',
} as const;

/** Throws 412 with `agent_ids` while agents have `id` in the field: it must not be deleted. */
export const checkUnused = async (tx: Tx, field: keyof typeof namedBy, id: string): Promise<void> => {
  const agentIds =
    field === 'gate'
      ? await listAgentsGatedBy(tx, id, shownAgents)
      : await listAgentsNaming(tx, field, id, shownAgents);
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

const notOne: Partial<Record<Referred, string>> = {
  llm_configuration: 'is not an LLM configuration',
  tool_server: 'is not a tool server',
  semantic_data_model: 'is not a semantic data model',
};

/** Returns the references to what does not exist. What exists is locked for share. The dataset of a gate has rules of its own. */
export const lockReferences = async (tx: Tx, fields: object) => {
  const given = agents.references(fields).filter(({ to }) => to !== 'dataset');
  const idsOf = (to: Referred) => given.filter((one) => one.to === to).map(({ text }) => text.toLowerCase());
  const known = new Set<string>();
  for (const id of idsOf('llm_configuration')) if (isId(id) && (await lockLlmForShare(tx, id))) known.add(id);
  const toolServers = await lockToolServersForShare(tx, idsOf('tool_server').filter(isId));
  const models = await lockSemanticDataModelsForShare(tx, idsOf('semantic_data_model').filter(isId));
  const all = known.union(toolServers).union(models);
  return given.filter(({ text }) => !all.has(text.toLowerCase()));
};

/** Throws 422 that names each field with an unknown id. What is referred to is locked for share. */
const checkReferences = async (tx: Tx, fields: Omit<AgentChanges, 'callbacks'>): Promise<void> => {
  const unknown = await lockReferences(tx, fields);
  if (unknown.length === 0) return;
  const faults = unknown.map(({ path, to }) => ({ path, message: notOne[to]! }));
  const isLlm = unknown.some(({ path }) => path === 'llm_id');
  throw unprocessable(faults, isLlm ? { llm_id: fields.llm_id } : {});
};

/** Returns the agent as the response shows it: with the secrets that were generated for its callbacks. */
export const createAgent = async (
  tx: Tx,
  actor: Actor,
  hooks: AgentHooks,
  fields: AgentFields,
  options: GateOptions = {},
): Promise<Agent> => {
  checkWorkerFields(fields.mode, fields);
  await checkReferences(tx, fields);
  await lockGate(tx, actor, hooks, { before: null, after: fields, isExternal: false }, options);
  const id = newId();
  const { stored, shown } = await hooks.callbacks.add(tx, { agentId: id }, fields.callbacks, actor);
  const agent = await insertAgent(tx, id, stored, fields);
  await setFirstAuthor(tx, id, actor.principal);
  await hooks.ended(tx, agent.publication_id, 'published');
  await audit(tx, actor, 'agent.create', agent.id, { name: agent.name, mode: agent.mode });
  return { ...agent, callbacks: shown };
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
 * Returns the agent with its draft, locked. Throws 400 or 422 for changes that it cannot have, and 403 for those that it may
 * not have.
 */
export const lockToUpdate = async (
  tx: Tx,
  actor: Actor,
  hooks: Pick<AgentHooks, 'gatekeeper'>,
  id: string,
  changes: AgentChanges,
  options: GateOptions = {},
): Promise<Agent> => {
  const agent = await lockAgent(tx, id);
  const before = withDraft(agent);
  await checkChanges(tx, before, changes);
  const merged = agents.merge(before, changes);
  await lockGate(
    tx,
    actor,
    hooks,
    { before, after: merged, isExternal: agent.execution === 'external' },
    options,
  );
  // Changes that are published at once are compared with the published version: the draft may be looser.
  const bound = merged.release === 'automatic' ? agent : before;
  await checkMayLoosen(tx, actor, bound, {
    ...merged,
    approval_role: merged.approval_role ?? defaultApprovalRole[before.mode],
  });
  return before;
};

/**
 * Changes the agent that `lockToUpdate` returned. Content of an agent with `release: manual` is a draft from then on;
 * otherwise it is published. Returns the agent as the response shows it.
 */
export const updateAgent = async (
  tx: Tx,
  actor: Actor,
  hooks: AgentHooks,
  before: Agent,
  changes: AgentChanges,
): Promise<Agent> => {
  const replaced =
    changes.callbacks &&
    (await hooks.callbacks.replace(tx, { agentId: before.id }, before.callbacks, changes.callbacks, actor));
  const release = await releaseOf(tx, actor, before, changes);
  const isAutomaticNow = before.release === 'manual' && changes.release === 'automatic';
  if (release.isPublished || isAutomaticNow) await cancelCheck(tx, actor, hooks, before);
  const after = await updateAgentRow(tx, before.id, release.changes, {
    ...release.columns,
    ...(replaced && { callbacks: json(replaced.stored) }),
  });
  if (changes.settings || release.isPublished) await hooks.onSettings(tx);
  if (release.isPublished) await hooks.ended(tx, after.publication_id, 'published');
  await audit(tx, actor, 'agent.update', after.id, {
    name: after.name,
    changed: agents.changed(changes),
    ...(release.isPublished ? { version: after.version } : {}),
  });
  return replaced ? { ...after, callbacks: replaced.shown } : after;
};

/**
 * Deletes the agent, which is locked for that. The database deletes its schedules and scopes with it. `onDelete` is called
 * after that: a firing in progress holds the row of its schedule, so once that row is deleted no Work Item can be created
 * unnoticed. Its callbacks go last, so that they are notified of the Work Items that `onDelete` cancels.
 */
export const deleteAgent = async (tx: Tx, actor: Actor, hooks: AgentHooks, agent: Agent): Promise<void> => {
  await hooks.beforeDelete(tx, agent.id);
  await deleteAgentRow(tx, agent.id);
  await hooks.onDelete(tx, agent.id, actor);
  await hooks.callbacks.removeOf(tx, agent.id);
  await audit(tx, actor, 'agent.delete', agent.id, { name: agent.name });
};
