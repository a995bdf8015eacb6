import type { Feature, Services } from '../feature.ts';
import { resolveLlm } from './llm-configurations.ts';
import { llmRoutes, type ProbeLlm } from './routes.ts';
import { createLlmSettings, type ResolvedLlm } from './settings.ts';

export {
  type AskedModel,
  type AskModel,
  LlmFailure,
  type ObjectReply,
  type ObjectRequest,
} from './asking.ts';
export type { ProbeLlm } from './routes.ts';
export type { ResolvedLlm } from './settings.ts';
export { lockLlmForShare } from './store.ts';
export { addUsage, noUsage, type Usage } from './usage.ts';

export interface LlmConfigurations extends Feature {
  /**
   * Resolves to the configuration `llmId` with its secrets, or to the default if it is null. Throws 404 if there is
   * none.
   */
  resolve(llmId: string | null): Promise<ResolvedLlm>;
}

/** LLM configurations: which models agents use, and the keys to them. */
export const createLlmConfigurations = (
  { db, vault }: Services,
  { probe }: { probe: ProbeLlm },
): LlmConfigurations => {
  const settings = createLlmSettings(vault);
  return {
    tag: { name: 'LLM configurations', description: 'The language models that agents use.' },
    routes: llmRoutes(db, settings, probe),
    secrets: settings.secrets,
    resolve: (llmId) => db.run((executor) => resolveLlm(executor, settings, llmId)),
  };
};
