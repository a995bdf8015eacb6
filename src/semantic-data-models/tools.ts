import { nearest } from '@agent-platform/sql';
import { z } from 'zod';
import type { DataConnections } from '../data-connections/index.ts';
import type { Database } from '../database/index.ts';
import { fence } from '../lib/fence.ts';
import { mostShownRows, orRefusal, type ShownResult, showRows } from '../lib/tool-results.ts';
import { type Answer, limitOf, openModel, type RunOptions } from './answer.ts';
import { describeDataset, describeModel } from './describe.ts';
import type { SemanticModel } from './ossie.ts';
import { runQuery } from './query.ts';
import { findSemanticDataModels, type SemanticDataModelRow } from './store.ts';

/** A tool of the platform, as the runtime offers it to an agent. Calling it twice does no more than calling it once. */
export interface ModelTool {
  name: string;
  description: string;
  schema: z.ZodType;
  call(args: unknown, context: ModelToolContext): Promise<ShownResult>;
}

/** Which rows an answer is asked for by who keeps them. */
type Taking = Required<Pick<RunOptions, 'limit' | 'onRows'>>;

/**
 * Keeps all rows of the answer that `query` gives as a data frame: as `saveAs`, in place of one of this name, or under
 * a free name. `source` is what the frame says of its origin. Rejects with what `query` rejects with.
 */
export type KeepAnswer = (
  wanted: { saveAs: string | null; source: Record<string, unknown> },
  query: (taking: Taking) => Promise<Answer>,
) => Promise<{ answer: Answer; frame: { name: string; row_count: number; truncated: boolean } }>;

interface ModelToolContext {
  signal: AbortSignal;
  keep: KeepAnswer;
}

interface ToolParts {
  db: Database;
  connections: Pick<DataConnections, 'run' | 'open'>;
  /** DATA_QUERY_MAX_ROWS. */
  maxRows: () => number;
}

/** The most bytes of a description for an agent. */
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
    .looseObject({})
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
  save_as: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must begin with a letter and have only a-z, 0-9 and _')
    .optional()
    .describe('The name of the data frame that keeps all rows; one of this name is replaced.'),
  limit: z.int().min(1).optional().describe('The most rows to show: at most 50 are. All rows are kept.'),
});

/** The rows that the model sees, with what is to be said of them. */
const showKept = (
  { warnings, columns }: Answer,
  frame: { name: string; row_count: number; truncated: boolean },
  rows: Answer['rows'],
): string => {
  const cut = frame.truncated ? ' More rows than MAX_DATA_FRAME_ROWS were left out.' : '';
  return [
    `The result is kept as the data frame ${frame.name} with ${frame.row_count} rows; query_data_frames queries it.${cut}`,
    ...warnings.map(({ message }) => message),
    showRows({ columns, rows, truncated: rows.length < frame.row_count }),
  ].join('\n');
};

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
          'Asks a data model for rows. Give exactly one of query, sql and verified_query, with names as describe_data_model shows them. All rows are kept as a data frame; at most 50 are shown.',
        schema: querySchema,
        call: (args, { signal, keep }) => {
          const { model, limit, save_as = null, ...asked } = querySchema.parse(args);
          const given = Object.values(asked).filter((one) => one !== undefined);
          if (given.length !== 1) {
            return Promise.resolve(failure('Give exactly one of query, sql and verified_query.'));
          }
          return withModel(model, (row) =>
            orRefusal(async () => {
              const most = Math.min(limitOf(limit, maxRows()), mostShownRows);
              const noQuestions = () => Promise.reject(new Error('a tool asks no question'));
              const opened = await openModel(connections, row);
              const rows: Answer['rows'] = [];
              const source = { kind: 'semantic_data_model', semantic_data_model_id: row.id, ...asked };
              const { answer, frame } = await keep({ saveAs: save_as, source }, (taking) => {
                const onRows = (batch: Answer['rows']) => {
                  rows.push(...batch.slice(0, most - rows.length));
                  return taking.onRows(batch);
                };
                const options = { ...taking, onRows, dryRun: false, signal };
                return runQuery({ connections, askModel: noQuestions }, opened, asked, options);
              });
              return showKept(answer, frame, rows);
            }),
          );
        },
      },
    ];
  };
};

export type ModelTools = ReturnType<typeof createModelTools>;
