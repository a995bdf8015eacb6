import type { Feature, Services } from '../feature.ts';
import type { AgentHooks } from './agents.ts';
import { agentRoutes } from './routes.ts';

export { checkUnused, getAgent, getAgents, lockAgent, lockAgentForShare, requireWorker } from './agents.ts';
export { type Agent, findAgent } from './store.ts';

/** Agents: Worker agents and conversational agents. */
export const createAgents = ({ db }: Services, hooks: AgentHooks): Feature => ({
  tag: {
    name: 'Agents',
    description: 'Worker agents execute Work Items; conversational agents talk.',
  },
  routes: agentRoutes(db, hooks),
});
