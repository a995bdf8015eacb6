import { z } from 'zod';
import { id, jsonObject, optional, queryInteger, text, timestamp } from '../http/index.ts';
import { frameDatatypes } from '../sandbox/index.ts';
import { askedFields } from '../semantic-data-models/index.ts';
import { frameName } from './names.ts';

const datatype = z.enum(frameDatatypes);
const name = z
  .string()
  .regex(frameName, 'must begin with a letter and have only a-z, 0-9 and _, at most 63 characters');

const frameColumn = z.object({ name: z.string(), datatype, description: z.string().nullable() });

const warning = z.object({
  code: z.string(),
  column: z.string().nullable().describe('Null if it is about the whole frame.'),
  message: z.string(),
});

export const publicDataFrame = z
  .object({
    id,
    conversation_id: id.nullable().describe('Null for a data frame of a Work Item.'),
    work_item_id: id.nullable().describe('Null for a data frame of a conversation.'),
    name: z.string().describe('Unique in the conversation or Work Item: the name of its table in SQL.'),
    description: z.string().nullable(),
    source: jsonObject.describe('What it was made of.'),
    columns: z.array(frameColumn),
    row_count: z.int(),
    size_bytes: z.int(),
    truncated: z.boolean().describe('Whether rows beyond MAX_DATA_FRAME_ROWS were left out.'),
    warnings: z.array(warning),
    created_by: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'PublicDataFrame' });

const fileSource = z.object({
  kind: z.literal('file'),
  file_id: z.string().describe('A file of the same conversation or Work Item.'),
  sheet: optional(z.string(), null).describe('Of a spreadsheet; the first one if it is left out.'),
  header: optional(z.boolean(), true).describe('Whether the first row names the columns.'),
  columns: optional(z.record(z.string(), datatype), {}).describe(
    'Datatypes by the names of their columns, instead of those that are inferred from all values.',
  ),
});

const sqlSource = z.object({
  kind: z.literal('sql'),
  sql: text(50_000, 1).describe('A SELECT over the data frames that there are.'),
});

const modelSource = z.object({
  kind: z.literal('semantic_data_model'),
  semantic_data_model_id: z.string().describe('A semantic data model of the agent.'),
  ...askedFields,
});

export const createBody = z
  .object({
    name: optional(name, null).describe('After the file, or `result_n`, if it is left out.'),
    description: optional(text(2_000), null),
    replace: optional(z.boolean(), false).describe('Whether it may take the place of a frame of its name.'),
    source: z.discriminatedUnion('kind', [fileSource, modelSource, sqlSource]),
  })
  .meta({ id: 'CreateDataFrameBody' });

export const queryBody = z
  .object({
    sql: text(50_000, 1).describe('A SELECT in the grammar of PostgreSQL. The data frames are the tables.'),
    limit: z.int().min(1).nullish().describe('How many rows the response has; default 1,000.'),
    save_as: optional(name, null).describe('Keeps the whole result as a data frame of this name.'),
  })
  .meta({ id: 'QueryDataFramesBody' });

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const rows = z
  .array(z.array(value))
  .describe(
    'Values in the order of the columns. An Integer beyond 2^53 and a Decimal that a double cannot hold are strings.',
  );

export const queryAnswer = z
  .object({
    source: z.literal('sql'),
    verified_query: z.null(),
    query: z.null(),
    sql: z.string().describe('What ran, to the letter.'),
    parameters: z.array(value),
    columns: z.array(
      z.object({
        name: z.string(),
        label: z.string().nullable(),
        description: z.string().nullable(),
        datatype,
        role: z.literal('column'),
      }),
    ),
    rows,
    row_count: z.int(),
    truncated: z.boolean().describe('Whether there are more rows.'),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    explanation: z.null(),
    usage: z.null(),
    duration_ms: z.int(),
    data_frame: publicDataFrame.nullable().describe('What `save_as` made.'),
  })
  .meta({ id: 'DataFrameQueryAnswer' });

const list = (given: string | undefined): string[] | null => given?.split(',') ?? null;

export const rowsQuery = z.object({
  limit: queryInteger(1, 1_000, 100),
  offset: queryInteger(0, 1_000_000_000, 0),
  columns: z.string().optional().transform(list).describe('`a,b`: only these, in this order.'),
  order: z
    .string()
    .optional()
    .transform(list)
    .describe('`a,-b`: by a, then by b descending. NULL comes last.'),
});

export const rowsAnswer = z
  .object({
    columns: z.array(frameColumn),
    rows,
    total_count: z.int(),
    next_offset: z.int().nullable().describe('The offset of the next page; null at the end.'),
  })
  .meta({ id: 'DataFrameRows' });

export const contentQuery = z.object({
  format: z.enum(['csv', 'json', 'ndjson', 'parquet']).default('csv'),
  spreadsheet_safe: z
    .enum(['true', 'false'])
    .default('false')
    .transform((given) => given === 'true')
    .describe("Puts `'` before text of a CSV file that a spreadsheet would take for a formula."),
});
