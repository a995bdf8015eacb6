import { z } from 'zod';
import type { DataConnections } from '../data-connections/index.ts';
import type { Database } from '../database/index.ts';
import { fence } from '../lib/fence.ts';
import { orRefusal, type ShownResult, showRows } from '../lib/tool-results.ts';
import { nearest } from '../sql/index.ts';
import { type Answer, limitOf, type OpenedModel } from './answer.ts';
import { describeDataset, describeModel } from './describe.ts';
import type { SemanticModel } from './ossie.ts';
import { runQuery } from './query.ts';
import { findSemanticDataModels, type SemanticDataModelRow } from './store.ts';

/** A tool of the platform, as the runtime offers it to an agent. Calling it twice does no more than calling it once. */
export interface ModelTool {
  name: string;
  description: string;
  schema: z.ZodType;
  call(args: unknown, context: { signal: AbortSignal }): Promise<ShownResult>;
}

interface ToolParts {
  db: Database;
  connections: Pick<DataConnections, 'run' | 'dialectOf'>;
  /** DATA_QUERY_MAX_ROWS. */
  maxRows: () => number;
}

/** How much of a data model an agent is shown. */
const describedBytes = 60 * 1024;

const modelName = z.string().min(1).max(200).describe('The name or id of a data model.');

const listSchema = z.object({});
const describeSchema = z.object({
  model: modelName,
  dataset: z.string().min(1).max(128).optional().describe('Only this dataset.'),
});
const querySchema = z.object({
  model: modelName,
  query: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'A structured query: {metrics: [name], dimensions: ["dataset.field" or {field, granularity}], filters: [{field or metric, operator, values}], order: [{by, direction}]}. Preferred.',
    ),
  sql: z
    .string()
    .max(50_000)
    .optional()
    .describe("One SELECT in PostgreSQL's grammar, with datasets as tables and fields as columns."),
  verified_query: z.string().max(128).optional().describe('The name of a verified query.'),
  limit: z.int().min(1).optional().describe('The most rows.'),
});

/** The rows that the model sees, with what is to be said of them. */
const showAnswer = (answer: Answer): string =>
  [...answer.warnings.map(({ message }) => message), showRows(answer)].join('\n');

const failure = (text: string): ShownResult => ({ text, isError: true });

const summaryOf = ({ name, description, semantic_model, verified_queries }: SemanticDataModelRow) => ({
  model: name,
  description: description ?? (semantic_model as SemanticModel).description ?? null,
  datasets: semantic_model.datasets.map((dataset) => dataset.name),
  metrics: (semantic_model.metrics ?? []).map((metric) => metric.name),
  questions: verified_queries
    .filter((query) => query.use_as_onboarding_question)
    .map(({ question }) => question),
});

/**
 * The tools of an agent that is given semantic data models: only these models answer. Rows are shown as data between
 * lines that they cannot forge.
 */
export const createModelTools = ({ db, connections, maxRows }: ToolParts) => {
  const open = (row: SemanticDataModelRow): Promise<OpenedModel> =>
    connections.dialectOf(row.data_connection_id).then((dialect) => ({ row, dialect: dialect! }));

  return (modelIds: readonly string[]): ModelTool[] => {
    if (modelIds.length === 0) return [];
    const list = () => db.run((executor) => findSemanticDataModels(executor, modelIds));

    /** Runs `answer` with the model of a name or id, or says which models there are. */
    const withModel = async (wanted: string, answer: (row: SemanticDataModelRow) => Promise<ShownResult>) => {
      const rows = await list();
      const found =
        rows.find(({ id }) => id === wanted.toLowerCase()) ??
        rows.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
      if (found) return answer(found);
      return failure(
        `There is no data model ${JSON.stringify(wanted)}. There are: ${rows.map(({ name }) => name).join(', ')}`,
      );
    };

    return [
      {
        name: 'list_data_models',
        description: 'The data models that questions about company data can be asked of.',
        schema: listSchema,
        call: async () => ({
          text: fence((await list()).map((row) => JSON.stringify(summaryOf(row))).join('\n')),
        }),
      },
      {
        name: 'describe_data_model',
        description: 'The datasets, fields, metrics and verified queries of a data model.',
        schema: describeSchema,
        call: (args) => {
          const { model, dataset } = describeSchema.parse(args);
          return withModel(model, async ({ semantic_model, verified_queries }) => {
            if (dataset === undefined) {
              const queries = verified_queries.map(
                ({ name, question }) => `verified query ${name}: ${question}`,
              );
              const text = describeModel(semantic_model, describedBytes, '');
              return { text: fence([text, ...queries.slice(0, 200)].join('\n')) };
            }
            const described = describeDataset(semantic_model, dataset);
            if (described !== undefined) return { text: fence(described) };
            const names = semantic_model.datasets.map(({ name }) => name);
            return failure(
              `There is no dataset ${JSON.stringify(dataset)}. Meant may be: ${nearest(dataset, names).join(', ') || names.join(', ')}`,
            );
          });
        },
      },
      {
        name: 'query_data_model',
        description:
          'Asks a data model for rows. Give exactly one of query, sql and verified_query, with names as describe_data_model shows them.',
        schema: querySchema,
        call: (args, { signal }) => {
          const { model, limit, ...asked } = querySchema.parse(args);
          const given = Object.values(asked).filter((one) => one !== undefined);
          if (given.length !== 1) {
            return Promise.resolve(failure('Give exactly one of query, sql and verified_query.'));
          }
          return withModel(model, (row) =>
            orRefusal(async () => {
              const options = { limit: limitOf(limit, maxRows()), dryRun: false, signal };
              const noQuestions = () => Promise.reject(new Error('a tool asks no question'));
              const answer = await runQuery(
                { connections, askModel: noQuestions },
                await open(row),
                asked,
                options,
              );
              return showAnswer(answer);
            }),
          );
        },
      },
    ];
  };
};

export type ModelTools = ReturnType<typeof createModelTools>;
