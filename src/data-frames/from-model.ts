import { ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Asked, SemanticDataModels } from '../semantic-data-models/index.ts';
import type { Target } from './keep.ts';
import { keepAnswer } from './keep-answer.ts';
import type { FrameParts } from './parts.ts';
import type { DataFrame } from './store.ts';

export interface ModelSource extends Pick<Asked, 'query' | 'sql' | 'question' | 'verified_query'> {
  kind: 'semantic_data_model';
  semantic_data_model_id: string;
}

/** A fault of what is asked, at its place in the body. */
const inSource = (error: unknown): unknown => {
  if (!(error instanceof ApiError) || error.code !== 'unprocessable_entity') return error;
  const { details, ...context } = error.context;
  if (!Array.isArray(details)) return error;
  return unprocessable(
    (details as Fault[]).map(({ path, message }) => ({ path: `source.${path}`, message })),
    context,
  );
};

/**
 * Makes a frame of what a model answers. The model must be one of the agent, so that a person who may use the
 * conversation gets no more than the agent would answer. A question is translated by the LLM of the agent.
 */
export const makeOfModel = async (
  parts: FrameParts,
  models: Pick<SemanticDataModels, 'ask' | 'isGivenTo'>,
  target: Target,
  { source, agentId }: { source: ModelSource; agentId: string },
  signal: AbortSignal,
): Promise<DataFrame> => {
  const { kind, semantic_data_model_id: id, ...asked } = source;
  if (!isId(id) || !(await models.isGivenTo(id, agentId))) {
    throw unprocessable([
      { path: 'source.semantic_data_model_id', message: 'is not a semantic data model of the agent' },
    ]);
  }
  const origin = { kind, semantic_data_model_id: id, ...asked };
  const { frame } = await keepAnswer(
    parts,
    target,
    origin,
    (taking) =>
      models
        .ask(id, { ...asked, agent_id: agentId }, { ...taking, dryRun: false, signal })
        .catch((error: unknown) => {
          throw inSource(error);
        }),
    signal,
  );
  return frame;
};
