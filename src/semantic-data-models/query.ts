import { nearest } from '@agent-platform/sql';
import type { DataConnections } from '../data-connections/index.ts';
import { unprocessable } from '../lib/errors.ts';
import type { AskModel } from '../llm-configurations/index.ts';
import {
  type Answer,
  compileFor,
  type OpenedModel,
  type Origin,
  type RunOptions,
  requestOf,
  runCompiled,
  shownVerified,
} from './answer.ts';
import { translateQuestion } from './question.ts';

/** A query: exactly one of the first four. */
export interface Asked {
  query?: Record<string, unknown> | undefined;
  sql?: string | undefined;
  verified_query?: string | undefined;
  question?: string | undefined;
  agent_id?: string | undefined;
  llm_id?: string | undefined;
}

interface QueryParts {
  connections: Pick<DataConnections, 'run'>;
  askModel: AskModel;
}

const plain = (source: Origin['source']): Origin => ({
  source,
  verified_query: null,
  explanation: null,
  usage: null,
});

/** The verified query of a name; throws 422 with the nearest names. */
const findVerified = ({ row }: OpenedModel, name: string) => {
  const found = row.verified_queries.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  const suggestions = nearest(
    name,
    row.verified_queries.map((one) => one.name),
  );
  throw unprocessable([{ path: 'verified_query', message: 'is not a verified query of this model' }], {
    suggestions,
  });
};

/**
 * Answers what is asked of a model. Throws 422 for a query that is refused, 412 if the database cannot be used, and 503
 * if the LLM of a question is away. Call it outside any transaction.
 */
export const runQuery = async (
  { connections, askModel }: QueryParts,
  model: OpenedModel,
  { query, sql, verified_query, question, agent_id, llm_id }: Asked,
  options: RunOptions,
): Promise<Answer> => {
  const begun = performance.now();
  const { limit, signal } = options;
  const run = (compiled: ReturnType<typeof compileFor>, origin: Origin) =>
    runCompiled(model.run, compiled, origin, options);
  if (query !== undefined) return run(compileFor(model, { query }, limit), plain('query'));
  if (sql !== undefined) return run(compileFor(model, { sql }, limit), plain('sql'));
  if (verified_query !== undefined) {
    const verified = findVerified(model, verified_query);
    const compiled = compileFor(model, requestOf(verified), limit);
    return run(compiled, { ...plain('verified_query'), verified_query: shownVerified(verified) });
  }
  const { compiled, origin } = await translateQuestion(
    model,
    question!,
    () => askModel({ agentId: agent_id, llmId: llm_id }),
    { limit, ...(signal ? { signal } : {}) },
  );
  // The connection is opened again: the translation may have taken a minute.
  const answer = await runCompiled(
    (query) => connections.run(model.row.data_connection_id, query),
    compiled,
    origin,
    options,
  );
  // The time of the translation counts.
  return { ...answer, duration_ms: Math.round(performance.now() - begun) };
};
