export { type AgentHooks, findAgent, lockAgent, requireWorker } from './agents.ts';
export { agentRoutes } from './routes.ts';
export type { Agent, AgentLock, AgentSettings } from './store.ts';
