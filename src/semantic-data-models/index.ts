import type { DataConnections } from '../data-connections/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { AskModel } from './question.ts';
import { semanticDataModelRoutes } from './routes.ts';
import { createModelTools, type ModelTools } from './tools.ts';
import { useRoutes } from './use-routes.ts';

export type { Answer } from './answer.ts';
export type { AskedModel, AskModel } from './question.ts';
export { lockSemanticDataModelsForShare } from './store.ts';
export type { ModelTool, ModelTools } from './tools.ts';

export interface SemanticDataModels extends Feature {
  /** The tools of an agent for these models, for the runtime. */
  tools: ModelTools;
}

/** Semantic data models: what the tables of a data connection mean, and how they are asked. */
export const createSemanticDataModels = (
  { db, settings }: Services,
  { connections, askModel }: { connections: DataConnections; askModel: AskModel },
): SemanticDataModels => ({
  tag: {
    name: 'Semantic data models',
    description: 'What company data means: datasets, metrics and verified queries.',
  },
  routes: [
    ...semanticDataModelRoutes({ db, connections }),
    ...useRoutes({ db, settings, connections, askModel }),
  ],
  tools: createModelTools({
    db,
    connections,
    maxRows: () => settings.get().DATA_QUERY_MAX_ROWS,
  }),
});
