import { datatypes } from '@agent-platform/sql';
import { z } from 'zod';
import { id, jsonObject, optional, pageOf, pageQuery, text, timestamp } from '../http/index.ts';
import { nullable, required, withDefault } from '../resource/index.ts';
import { askedFields } from './asked.ts';

const name = text(200, 1);
const description = text(10_000);
const mostQueries = 200;

const verifiedQueryInput = z
  .object({
    name: text(128, 1),
    question: text(2_000, 1),
    sql: optional(text(50_000, 1)).describe('One SELECT over datasets and fields, or `query`.'),
    query: optional(jsonObject).describe('A structured query, or `sql`.'),
    use_as_onboarding_question: optional(z.boolean(), false),
  })
  .superRefine(({ sql, query }, context) => {
    if ((sql === undefined) !== (query === undefined)) return;
    const none = sql === undefined;
    context.addIssue({
      code: 'custom',
      path: [none ? 'sql' : 'query'],
      message: 'cannot stand next to sql',
      params: { missing: 'is required, or query' },
    });
  })
  .meta({ id: 'VerifiedQueryInput' });

export type VerifiedQueryInput = z.output<typeof verifiedQueryInput>;

const verifiedQueries = z
  .array(verifiedQueryInput)
  .max(mostQueries, `must have at most ${mostQueries} queries`);

/** Reads the verified queries of an import. */
export const importedQueries = z.object({ verified_queries: verifiedQueries });

export const body = z
  .object({
    name: optional(name).describe('The default is the name in `semantic_model`.'),
    description: optional(description, null),
    data_connection_id: id,
    semantic_model: jsonObject.describe('A semantic model of Apache Ossie 0.2.'),
    verified_queries: optional(verifiedQueries, [] as VerifiedQueryInput[]),
  })
  .meta({ id: 'SemanticDataModelBody' });

export type Body = z.output<typeof body>;

/** Semantic data models in a workspace document, where the name is required. */
export const form = {
  fields: {
    name: required(name),
    description: nullable(description),
    data_connection_id: required(id).refersTo('data_connection', 'data_connection'),
    semantic_model: required(jsonObject),
    verified_queries: withDefault(verifiedQueries, []),
  },
  body: body.extend({ name }),
};

const issue = z
  .object({
    severity: z.enum(['error', 'warning']),
    code: z.string(),
    path: z.string(),
    message: z.string(),
    suggestions: z.array(z.string()),
  })
  .meta({ id: 'SemanticDataModelIssue' });

export const semanticDataModel = z
  .object({
    id,
    name: z.string(),
    description: z.string().nullable(),
    data_connection_id: id,
    semantic_model: jsonObject,
    verified_queries: z.array(
      z
        .object({
          name: z.string(),
          question: z.string(),
          sql: z.string().optional(),
          query: jsonObject.optional(),
          use_as_onboarding_question: z.boolean(),
          verified_by: z.string().describe('The id of the principal who stored it.'),
          verified_at: timestamp,
        })
        .meta({ id: 'VerifiedQuery' }),
    ),
    validation: z.object({
      valid: z.boolean(),
      checked_at: timestamp.nullable().describe('When the database was last looked at.'),
      errors: z.array(issue),
      warnings: z.array(issue),
    }),
    created_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicSemanticDataModel' });

export const semanticDataModelPage = pageOf('SemanticDataModelPage', semanticDataModel);

export const listQuery = pageQuery.extend({
  data_connection_id: id.optional(),
  name: text(200).optional().describe('The beginning of the name, without case.'),
});

export const scaffoldBody = z
  .object({
    data_connection_id: id,
    tables: z
      .array(z.object({ schema: optional(text(200, 1)), table: text(200, 1) }))
      .min(1, 'must have at least 1 table')
      .max(50, 'must have at most 50 tables'),
    name: optional(name),
    describe: optional(z.boolean(), false).describe(
      'Whether the default LLM writes descriptions and synonyms. It gets names and types.',
    ),
    sample_values: optional(z.boolean(), false).describe('Whether the LLM also gets values of the columns.'),
    save: optional(z.boolean(), false).describe('Whether the model is created.'),
  })
  .meta({ id: 'ScaffoldBody' });

const warning = z.object({ code: z.string(), message: z.string() });

export const scaffold = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    data_connection_id: id,
    semantic_model: jsonObject,
    verified_queries: z.array(z.never()),
    warnings: z.array(warning),
  })
  .meta({ id: 'Scaffold' });

export const importBody = z
  .object({
    data_connection_id: id,
    document: text(1_048_576, 1).describe('An Ossie document in YAML or JSON, with one model; at most 1 MB.'),
    name: optional(name),
  })
  .meta({ id: 'ImportSemanticDataModelBody' });

export const exportQuery = z.object({ format: z.enum(['yaml', 'json']).default('yaml') });

export const validateQuery = z.object({
  deep: optional(z.boolean(), false).describe('Whether keys are counted and verified queries are run.'),
});
export const validateStoredBody = validateQuery.meta({ id: 'ValidateSemanticDataModelBody' });

export const validation = z
  .object({
    valid: z.boolean(),
    live: z.boolean().describe('Whether the database was looked at.'),
    issues: z.array(issue),
  })
  .meta({ id: 'SemanticDataModelValidation' });

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const queryBody = z
  .object({
    ...askedFields,
    agent_id: optional(id).describe('For a question: the agent whose LLM translates it.'),
    llm_id: optional(id).describe('For a question: the LLM that translates it; else the default.'),
    limit: optional(z.int().min(1)).describe('The most rows: at most DATA_QUERY_MAX_ROWS; default 1,000.'),
    dry_run: optional(z.boolean(), false).describe('Whether the query is only translated, and not run.'),
  })
  .meta({ id: 'QuerySemanticDataModelBody' });

const usage = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_input_tokens: z.int(),
    reasoning_tokens: z.int(),
  })
  .meta({ id: 'QuestionUsage' });

export const answer = z
  .object({
    source: z.enum(['query', 'sql', 'verified_query', 'generated']),
    verified_query: z
      .object({ name: z.string(), question: z.string(), verified_by: z.string(), verified_at: timestamp })
      .nullable(),
    query: jsonObject.nullable().describe('The structured query that ran; null for SQL.'),
    sql: z.string().describe('What ran, to the letter.'),
    parameters: z.array(value),
    columns: z.array(
      z.object({
        name: z.string(),
        label: z.string().nullable(),
        description: z.string().nullable(),
        datatype: z.enum(datatypes),
        role: z.enum(['dimension', 'metric', 'column']),
      }),
    ),
    rows: z.array(z.array(value)),
    row_count: z.int(),
    truncated: z.boolean(),
    warnings: z.array(warning),
    explanation: z.string().nullable(),
    usage: usage.nullable().describe('Tokens of the LLM; null unless one was asked.'),
    duration_ms: z.int(),
  })
  .meta({ id: 'SemanticDataModelAnswer' });
