import type { Callbacks } from '../callbacks/index.ts';
import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Route } from '../http/index.ts';
import { createHooks } from '../lib/hooks.ts';
import type { Actor } from '../lib/principal.ts';
import type { ApprovalGuard } from '../tool-servers/index.ts';
import {
  type AgentHooks,
  checkUnused,
  createAgent,
  deleteAgent,
  lockAgent,
  lockToUpdate,
  updateAgent,
} from './agents.ts';
import { agentCalls } from './calls.ts';
import { approvalGuard } from './loosening.ts';
import { agentPageRoutes } from './page-routes.ts';
import { agentRoutes } from './routes.ts';
import { type Agent, type AgentChanges, listAgents } from './store.ts';
import { canaryLoop } from './versions/canary.ts';
import { withDraft } from './versions/content.ts';

export { agentCalls } from './calls.ts';
export { form as agentForm } from './routes.ts';
export * as agentSql from './sql.ts';
export { type Agent, defaultApprovalRole } from './store.ts';
export type { PinnedAgent } from './versions/pins.ts';
export type { NamedInRun } from './versions/store.ts';

/** Throws 412 with `agent_ids` while agents use the resource `id`: it must not be deleted. */
type CheckUnused = (tx: Tx, id: string) => Promise<void>;

interface Needs {
  callbacks: Pick<Callbacks, 'store'>;
  llms: { usedBy(agents: Pick<Calls, 'get'>): void };
  toolServers: { usedBy(agents: { checkUnused: CheckUnused; guard: ApprovalGuard }): void };
  semanticDataModels: { usedBy(agents: { checkUnused: CheckUnused }): void };
}

type Calls = typeof agentCalls;

export interface Agents extends Feature, Calls {
  /** The operations of its pages, which the document lists with those of the application. */
  pageRoutes: readonly Route[];
  /** All agents, with the secrets of their callbacks. */
  list(executor: Executor): Promise<(Omit<Agent, 'callbacks'> & { callbacks: object[] })[]>;
  /** Throws 422 that names each unknown reference. */
  create(tx: Tx, actor: Actor, fields: Parameters<typeof createAgent>[3]): Promise<Agent>;
  update(tx: Tx, actor: Actor, id: string, changes: AgentChanges): Promise<Agent>;
  /** Its schedules and scopes are deleted as well, and its open Work Items are cancelled. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Calls `hook` before the row of an agent is deleted, and the rows that depend on it. */
  beforeDelete(hook: AgentHooks['beforeDelete']): void;
  /** Calls `hook` after the row of an agent and the rows that depend on it are deleted. */
  onDelete(hook: AgentHooks['onDelete']): void;
  /** Calls `hook` after the settings or the execution of an agent changed: more Work Items may be claimed now. */
  onSettings(hook: AgentHooks['onSettings']): void;
}

/** Agents: Worker agents and conversational agents. */
export const createAgents = (
  { db, log }: Services,
  { callbacks, llms, toolServers, semanticDataModels }: Needs,
): Agents => {
  const beforeDelete = createHooks<Parameters<AgentHooks['beforeDelete']>>();
  const onDelete = createHooks<Parameters<AgentHooks['onDelete']>>();
  const onSettings = createHooks<Parameters<AgentHooks['onSettings']>>();
  const hooks: AgentHooks = {
    callbacks: callbacks.store,
    beforeDelete: beforeDelete.call,
    onDelete: onDelete.call,
    onSettings: onSettings.call,
  };
  llms.usedBy(agentCalls);
  toolServers.usedBy({
    checkUnused: (tx, id) => checkUnused(tx, 'tool_server_ids', id),
    guard: approvalGuard,
  });
  semanticDataModels.usedBy({ checkUnused: (tx, id) => checkUnused(tx, 'semantic_data_model_ids', id) });
  return {
    ...agentCalls,
    tag: {
      name: 'Agents',
      description: 'Worker agents execute Work Items; conversational agents talk.',
    },
    routes: agentRoutes(db, hooks),
    loops: [canaryLoop({ db, log })],
    pageRoutes: agentPageRoutes(db),
    list: async (executor) => {
      const listed = [];
      for (const agent of (await listAgents(executor, everything)).map(withDraft)) {
        const secrets = await callbacks.store.settingsOf(executor, agent.callbacks);
        const shown = agent.callbacks.map(({ url, events }, i) => ({ url, events, ...secrets[i]! }));
        listed.push({ ...agent, callbacks: shown });
      }
      return listed;
    },
    create: (tx, actor, fields) => createAgent(tx, actor, hooks, fields),
    update: async (tx, actor, id, changes) =>
      updateAgent(tx, actor, hooks, await lockToUpdate(tx, actor, id, changes), changes),
    delete: async (tx, actor, id) => deleteAgent(tx, actor, hooks, await lockAgent(tx, id, 'delete')),
    beforeDelete: beforeDelete.add,
    onDelete: onDelete.add,
    onSettings: onSettings.add,
  };
};
