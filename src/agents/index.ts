export { type AgentHooks, findAgent, holdAgent, lockAgent, requireWorker } from './agents.ts';
export { agentRoutes } from './routes.ts';
export type { Agent, AgentSettings } from './store.ts';
