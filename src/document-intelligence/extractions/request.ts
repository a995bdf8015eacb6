import { z } from 'zod';
import { jsonObject, optional, text, validate } from '../../http/index.ts';
import { badRequest, unprocessable } from '../../lib/errors.ts';
import { nestsDeeperThan } from '../../lib/text.ts';
import { type ExtractionSchema, maxSchemaBytes, readSchema } from '../schema/schema.ts';

const maxInstructions = 10_000;
const maxNesting = 100;

const options = z
  .object({
    wait_seconds: z
      .number()
      .min(0)
      .max(55)
      .default(50)
      .describe('How long the response may wait for the result.'),
    pages: text(1_000).optional().describe('`1-3,7`: the pages to read. Those beyond the last are ignored.'),
    include_text: z.boolean().default(false).describe('Whether the result has the text of the document.'),
    include_pages: z
      .boolean()
      .default(false)
      .describe('Whether the result has the lines of each page and where they stand.'),
    require_grounding: z
      .boolean()
      .default(false)
      .describe('Whether values that are not found in the document become null.'),
  })
  .meta({ id: 'ExtractionOptions' });

const fields = {
  schema: jsonObject.describe(
    'JSON Schema of the data: an object at the root, at most 200 leaves and 64 KB.',
  ),
  instructions: optional(text(maxInstructions)).describe('What the model should know besides the schema.'),
  options: optional(options),
};
const formFields = z.object(fields);

export const extractionBody = z
  .object({
    file: z
      .union([
        z.object({ agent_id: z.string(), conversation_id: z.string(), file_id: z.string() }),
        z.object({ work_item_id: z.string(), file_id: z.string() }),
      ])
      .describe('A file of a conversation that the caller may use, or of a Work Item.'),
    ...fields,
  })
  .meta({ id: 'CreateExtractionBody' });

export const uploadFields = {
  schema: 'JSON Schema of the data, as JSON.',
  instructions: 'What the model should know besides the schema.',
  options: 'As in the JSON form, as JSON.',
};

/** The request of an extraction, apart from the document. */
export interface ExtractionRequest {
  schema: ExtractionSchema;
  instructions: string;
  waitSeconds: number;
  ranges: [from: number, to: number][] | null;
  includeText: boolean;
  includePages: boolean;
  requireGrounding: boolean;
}

/** `1-3, 7` as ranges; null if it is no such list. */
const readRanges = (list: string): [number, number][] | null => {
  const ranges = list.split(',').map((part): [number, number] => {
    const [, from, to = from] = /^\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?$/.exec(part) ?? [];
    return [Number(from), Number(to)];
  });
  return ranges.every(([from, to]) => from >= 1 && from <= to) ? ranges : null;
};

/** Throws 422 for what cannot be extracted. */
export const readRequest = ({
  schema: given,
  instructions,
  options: asked,
}: z.output<typeof formFields>): ExtractionRequest => {
  if (Buffer.byteLength(JSON.stringify(given)) > maxSchemaBytes) {
    throw unprocessable([{ path: 'schema', message: 'must have at most 64 KB' }]);
  }
  const schema = readSchema(given);
  if ('message' in schema) throw unprocessable([schema]);
  const { wait_seconds, pages, include_text, include_pages, require_grounding } = asked ?? options.parse({});
  const ranges = pages === undefined ? null : readRanges(pages);
  if (pages !== undefined && !ranges) {
    throw unprocessable([{ path: 'options.pages', message: 'must be a list such as 1-3,7' }]);
  }
  return {
    schema,
    instructions: instructions ?? '',
    waitSeconds: wait_seconds,
    ranges,
    includeText: include_text,
    includePages: include_pages,
    requireGrounding: require_grounding,
  };
};

/** A text of the form that is JSON. Throws 400 if it is none. */
const parsePart = (name: string, value: string | undefined): unknown => {
  if (value === undefined) return undefined;
  try {
    if (!nestsDeeperThan(value, maxNesting)) return JSON.parse(value);
  } catch {}
  throw badRequest(`The part \`${name}\` is not JSON.`);
};

/** The same from the texts of a form. Throws 400 also if `schema` is not there. */
export const readForm = (parts: Readonly<Record<string, string>>): ExtractionRequest => {
  const body = {
    schema: parsePart('schema', parts.schema),
    instructions: parts.instructions,
    options: parsePart('options', parts.options),
  };
  return readRequest(validate(formFields, body, 'body'));
};
