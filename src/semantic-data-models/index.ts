import type { DataConnections } from '../data-connections/index.ts';
import type { Feature, Services } from '../feature.ts';
import { notFound } from '../lib/errors.ts';
import type { AskModel } from '../llm-configurations/index.ts';
import { type Answer, openModel, type RunOptions } from './answer.ts';
import { type Asked, runQuery } from './query.ts';
import { semanticDataModelRoutes } from './routes.ts';
import type { CheckUnused } from './semantic-data-models.ts';
import { findSemanticDataModel, isGivenTo } from './store.ts';
import { createModelTools, type ModelTools } from './tools.ts';
import { useRoutes } from './use-routes.ts';

export type { Answer, RunOptions } from './answer.ts';
export { askedFields, requireAsked, requireOneAsked } from './asked.ts';
export type { Asked } from './query.ts';
export { lockSemanticDataModelsForShare } from './store.ts';
export type { KeepAnswer, ModelTool, ModelTools } from './tools.ts';

export interface SemanticDataModels extends Feature {
  /** The tools of an agent for these models, for the runtime. */
  tools: ModelTools;
  /**
   * Answers what is asked of the model `id`, for features that keep the rows: `limit` is theirs, and with `onRows` they
   * get them in batches. Throws 404, and what a query by the API throws.
   */
  ask(id: string, asked: Asked, options: RunOptions): Promise<Answer>;
  /** Whether the agent was given the model: members may ask what their agents may. */
  isGivenTo(id: string, agentId: string): Promise<boolean>;
}

/** Semantic data models: what the tables of a data connection mean, and how they are asked. */
export const createSemanticDataModels = (
  { db, settings }: Services,
  {
    connections,
    askModel,
    checkUnused,
  }: { connections: DataConnections; askModel: AskModel; checkUnused: CheckUnused },
): SemanticDataModels => ({
  tag: {
    name: 'Semantic data models',
    description: 'What company data means: datasets, metrics and verified queries.',
  },
  routes: [
    ...semanticDataModelRoutes({ db, connections, checkUnused }),
    ...useRoutes({ db, settings, connections, askModel }),
  ],
  ask: async (id, asked, options) => {
    const row = await db.run((executor) => findSemanticDataModel(executor, id));
    if (!row) throw notFound('semantic data model');
    return runQuery({ connections, askModel }, await openModel(connections, row), asked, options);
  },
  isGivenTo: (id, agentId) => db.run((executor) => isGivenTo(executor, id, agentId)),
  tools: createModelTools({
    db,
    connections,
    maxRows: () => settings.get().DATA_QUERY_MAX_ROWS,
  }),
});
