import type { DataConnections } from '../data-connections/index.ts';
import { databaseNow, type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { notFound } from '../lib/errors.ts';
import { createHooks } from '../lib/hooks.ts';
import type { Actor } from '../lib/principal.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import { type Answer, openModel, type RunOptions } from './answer.ts';
import { modelActions } from './model-actions.ts';
import { type Asked, runQuery } from './query.ts';
import { checkBody, semanticDataModelRoutes } from './routes.ts';
import type { Body } from './schemas.ts';
import {
  type CheckUnused,
  createSemanticDataModel,
  deleteSemanticDataModel,
  lockToDelete,
  lockToReplace,
  replaceSemanticDataModel,
} from './semantic-data-models.ts';
import {
  findSemanticDataModel,
  isGivenTo,
  listSemanticDataModels,
  type SemanticDataModelRow,
} from './store.ts';
import { createModelTools, type ModelTools } from './tools.ts';

export type { Answer, RunOptions } from './answer.ts';
export { askedFields, requireAsked, requireOneAsked } from './asked.ts';
export type { Asked } from './query.ts';
export { form as semanticDataModelForm } from './schemas.ts';
export { lockSemanticDataModelsForShare } from './store.ts';
export type { KeepAnswer, ModelTool, ModelTools } from './tools.ts';

export interface SemanticDataModels extends Feature {
  /** The bodies that would create all models, with their ids. */
  list(executor: Executor): Promise<{ id: string; data_connection_id: string }[]>;
  /**
   * Throws 422 with every fault of the document. The database is not asked. `leaving`: how many the transaction deletes
   * afterwards.
   */
  create(tx: Tx, actor: Actor, body: Body, leaving: number): Promise<SemanticDataModelRow>;
  /** Replaces the whole. Throws like `create`. */
  update(tx: Tx, actor: Actor, id: string, body: Body): Promise<SemanticDataModelRow>;
  /** Throws 412 while agents use it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Asks `user` before a model is deleted. */
  usedBy(user: { checkUnused: CheckUnused }): void;
  /** The tools of an agent for these models, for the runtime. */
  tools: ModelTools;
  /**
   * Answers what is asked of the model `id`, for features that keep the rows: `limit` is theirs, and with `onRows` they
   * get them in batches. Throws 404, and what a query by the API throws.
   */
  ask(id: string, asked: Asked, options: RunOptions): Promise<Answer>;
  /** The agent was given the model: members may query what their agents may. */
  isGivenTo(id: string, agentId: string): Promise<boolean>;
}

/** The time of the database, in ISO 8601. */
const isoNow = async (tx: Tx): Promise<string> => new Date(await databaseNow(tx)).toISOString();

/** Semantic data models: what the tables of a data connection mean, and how they are asked. */
export const createSemanticDataModels = (
  { db, settings }: Services,
  { connections, llms }: { connections: DataConnections; llms: Pick<LlmConfigurations, 'ask'> },
): SemanticDataModels => {
  const { ask: askModel } = llms;
  const unused = createHooks<Parameters<CheckUnused>>();
  const checkUnused: CheckUnused = unused.call;
  const checkIn = (tx: Tx, body: Body) =>
    checkBody({ dialectOf: (id) => connections.dialectIn(tx, id) }, body);
  return {
    tag: {
      name: 'Semantic data models',
      description: 'What company data means: datasets, metrics and verified queries.',
    },
    routes: [
      ...semanticDataModelRoutes({ db, connections, checkUnused }),
      ...modelActions({ db, settings, connections, askModel }),
    ],
    list: async (executor) =>
      (await listSemanticDataModels(executor, everything)).map(({ verified_queries, ...row }) => ({
        ...row,
        verified_queries: verified_queries.map(({ verified_by: _, verified_at: __, ...query }) => query),
      })),
    create: async (tx, actor, body, leaving) =>
      createSemanticDataModel(tx, actor, await checkIn(tx, body), await isoNow(tx), leaving),
    update: async (tx, actor, id, given) => {
      const body = await checkIn(tx, given);
      return replaceSemanticDataModel(tx, actor, await lockToReplace(tx, id, body), body, await isoNow(tx));
    },
    delete: async (tx, actor, id) =>
      deleteSemanticDataModel(tx, actor, checkUnused, await lockToDelete(tx, id)),
    usedBy: (user) => unused.add(user.checkUnused),
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
  };
};
