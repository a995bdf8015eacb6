export { findAgent, lockAgent, lockAgentForShare, requireWorker } from './agents.ts';
export { agentRoutes } from './routes.ts';
export type { Agent } from './store.ts';
