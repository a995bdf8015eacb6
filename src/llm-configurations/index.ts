import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Actor } from '../lib/principal.ts';
import { type AskingAgents, type AskModel, createAsk, type Models } from './asking.ts';
import type { ResolvedLlm } from './kinds.ts';
import {
  createLlm,
  deleteLlm,
  lockLlm,
  lockToUpdate,
  type NewLlm,
  resolveLlm,
  updateDefaultLlm,
  updateLlm,
} from './llm-configurations.ts';
import { llmRoutes } from './routes.ts';
import { createLlmSettings } from './settings.ts';
import { findDefaultLlm, type LlmRow, listLlms } from './store.ts';

export {
  type AskedModel,
  type AskModel,
  LlmFailure,
  type Models,
  type ObjectReply,
  type ObjectRequest,
} from './asking.ts';
export type { ResolvedLlm } from './kinds.ts';
export type { ProbeLlm } from './routes.ts';
export { form as llmForm } from './schemas.ts';
export { lockLlmForShare } from './store.ts';

export interface LlmConfigurations extends Feature {
  /** All configurations with their secrets. */
  list(executor: Executor): Promise<(NewLlm & { id: string })[]>;
  create(tx: Tx, actor: Actor, body: NewLlm): Promise<LlmRow>;
  /** Changes what `body` names; null resets a setting. Throws 422 for another address without every stored secret. */
  update(tx: Tx, actor: Actor, id: string, body: object): Promise<LlmRow>;
  /** Throws 412 for the default and for one that agents use. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  findDefault(executor: Executor): Promise<LlmRow>;
  setDefault(tx: Tx, actor: Actor, id: string): Promise<void>;
  /**
   * Resolves to the configuration `llmId` with its secrets, or to the default if it is null. Throws 404 if there is
   * none.
   */
  resolve(llmId: string | null): Promise<ResolvedLlm>;
  /** Opens an LLM to be asked outside any run. */
  ask: AskModel;
  /** Agents name LLMs: `ask` finds theirs with this. */
  usedBy(agents: AskingAgents): void;
}

/** LLM configurations: which models agents use, and the keys to them. */
export const createLlmConfigurations = (
  { db, vault }: Services,
  { models }: { models: Models },
): LlmConfigurations => {
  const settings = createLlmSettings(vault);
  const resolve = (llmId: string | null) => db.run((executor) => resolveLlm(executor, settings, llmId));
  let agents: AskingAgents | null = null;
  return {
    tag: { name: 'LLM configurations', description: 'The language models that agents use.' },
    routes: llmRoutes(db, settings, models.probe),
    secrets: settings.secrets,
    list: async (executor) =>
      (await listLlms(executor, everything)).map((row) => ({
        id: row.id,
        name: row.name,
        model: row.model,
        ...settings.open(row),
      })),
    create: (tx, actor, body) => createLlm(tx, actor, settings, body),
    update: async (tx, actor, id, body) =>
      updateLlm(tx, actor, settings, await lockToUpdate(tx, settings, id, body)),
    delete: async (tx, actor, id) => deleteLlm(tx, actor, await lockLlm(tx, id)),
    findDefault: findDefaultLlm,
    setDefault: updateDefaultLlm,
    resolve,
    ask: createAsk({ db, resolve, models, agents: () => agents }),
    usedBy: (user) => {
      agents = user;
    },
  };
};
