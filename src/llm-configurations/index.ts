export { llmExists, llmSecrets, type ResolvedLlm, resolveLlm } from './llm-configurations.ts';
export { llmRoutes, type ProbeLlm } from './routes.ts';
