import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Route } from '../http/index.ts';
import type { Actor } from '../lib/principal.ts';
import { type AgentHooks, createAgent, deleteAgent, lockAgent, lockToUpdate, updateAgent } from './agents.ts';
import { agentPageRoutes } from './page-routes.ts';
import { agentRoutes } from './routes.ts';
import { type Agent, type AgentChanges, listAgents } from './store.ts';
import { canaryLoop } from './versions/canary.ts';
import { withDraft } from './versions/content.ts';

export {
  checkUnused,
  getAgent,
  lockAgent,
  lockAgentForShare,
  lockAgentMode,
  requireWorker,
} from './agents.ts';
export { approvalGuard } from './loosening.ts';
export { form as agentForm } from './routes.ts';
export { type Agent, defaultApprovalRole } from './store.ts';
export { findPinned, getPinned, type PinnedAgent, pinAssignment } from './versions/pins.ts';
export { type NamedInRun, recordFirstRun } from './versions/store.ts';
export { freezeReference, listMissing } from './versions/versions.ts';

/** The rules behind the routes, for other features that change agents. */
interface AgentRules {
  /** All agents, with the secrets of their callbacks. */
  list(executor: Executor): Promise<(Omit<Agent, 'callbacks'> & { callbacks: object[] })[]>;
  /** Throws 422 that names each unknown reference. */
  create(tx: Tx, actor: Actor, fields: Parameters<typeof createAgent>[3]): Promise<Agent>;
  update(tx: Tx, actor: Actor, id: string, changes: AgentChanges): Promise<Agent>;
  /** Its schedules and scopes are deleted as well, and its open Work Items are cancelled. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
}

export interface Agents extends Feature {
  /** The operations of its pages, which the document lists with those of the application. */
  pageRoutes: readonly Route[];
  rules: AgentRules;
}

/** Agents: Worker agents and conversational agents. */
export const createAgents = ({ db, log }: Services, hooks: AgentHooks): Agents => ({
  tag: {
    name: 'Agents',
    description: 'Worker agents execute Work Items; conversational agents talk.',
  },
  routes: agentRoutes(db, hooks),
  loops: [canaryLoop({ db, log })],
  pageRoutes: agentPageRoutes(db),
  rules: {
    list: async (executor) => {
      const listed = [];
      for (const agent of (await listAgents(executor, everything)).map(withDraft)) {
        const secrets = await hooks.callbacks.settingsOf(executor, agent.callbacks);
        const callbacks = agent.callbacks.map(({ url, events }, i) => ({ url, events, ...secrets[i]! }));
        listed.push({ ...agent, callbacks });
      }
      return listed;
    },
    create: (tx, actor, fields) => createAgent(tx, actor, hooks, fields),
    update: async (tx, actor, id, changes) =>
      updateAgent(tx, actor, hooks, await lockToUpdate(tx, actor, id, changes), changes),
    delete: async (tx, actor, id) => deleteAgent(tx, actor, hooks, await lockAgent(tx, id, 'delete')),
  },
});
