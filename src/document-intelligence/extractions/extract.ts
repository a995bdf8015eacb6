import { type Citation, type Confidence, groundValues } from '../grounding/ground.ts';
import { type DocumentToRead, type ReadDocument, readDocument } from '../readers/index.ts';
import { coerceData, type DataValue, hasRequired, mapScalars, type Scalar } from '../schema/coerce.ts';
import { printSchema } from '../schema/print.ts';
import type { ExtractionSchema } from '../schema/schema.ts';
import { mergeAnswers, objectIn } from './answer.ts';
import { maxWindows, questionsFor } from './prompt.ts';
import { type ShownPage, shownPages } from './shown-pages.ts';

/** Tokens of the calls to the model. */
interface Usage {
  input_tokens: number;
  output_tokens: number;
}

/**
 * Asks a language model (null: the default) for JSON that fits a schema. It gets no tools. Resolves to a failure with
 * the code and the message of the model's error; rejects when the signal is aborted.
 */
export type AskForJson = (
  llmId: string | null,
  question: { system: string; user: string[]; schema: Record<string, unknown>; signal: AbortSignal },
) => Promise<{ text: string; usage: Usage } | { failure: { code: string; message: string } }>;

interface Warning {
  code: string;
  /** JSON Pointer of a value; null if it is about the document. */
  path: string | null;
  message: string;
}

export interface Extracted {
  pageCount: number;
  data: { [key: string]: DataValue };
  valid: boolean;
  fields: { [pointer: string]: { confidence: Confidence; citations: Citation[] } };
  warnings: Warning[];
  text?: string;
  pages?: ShownPage[];
  usage: Usage;
}

/** An extraction ended without a result. */
export class ExtractionFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ExtractionTask {
  document: DocumentToRead;
  llmId: string | null;
  schema: ExtractionSchema;
  instructions: string;
  includeText: boolean;
  includePages: boolean;
  requireGrounding: boolean;
}

/** Five windows full of text: more is never shown to the model. */
export const maxDocumentCharacters = maxWindows * 400_000;

/** Reads the document, asks the model, makes the answer fit the schema, and searches each value in the document. */
export const extract = async (
  parts: Parameters<typeof readDocument>[0] & { ask: AskForJson },
  task: ExtractionTask,
): Promise<Extracted> => {
  const read = await readDocument(parts, task.document);
  const { answer, usage, isCut } = await askWindows(parts.ask, task, read);
  const { root, notChecked } = task.schema;
  const coerced = coerceData(answer, root);
  const grounded = await ground(coerced.data, task, read);
  const cut: Warning[] =
    isCut && !read.warnings.some(({ code }) => code === 'text_left_out')
      ? [
          {
            code: 'text_left_out',
            path: null,
            message: 'The end of the document was not shown to the model.',
          },
        ]
      : [];
  const mismatched = coerced.warnings.some(({ code }) => code === 'type_mismatch');
  return {
    pageCount: read.total,
    data: grounded.data,
    valid: !mismatched && hasRequired(grounded.data, root, coerced.warnings),
    fields: grounded.fields,
    warnings: [
      ...read.warnings.map((warning) => ({ ...warning, path: null })),
      ...cut,
      ...notChecked.map(({ pointer, keyword }) => ({
        code: 'not_checked',
        path: pointer,
        message: `\`${keyword}\` is a hint for the model and was not checked.`,
      })),
      ...coerced.warnings,
      ...grounded.warnings,
    ],
    ...(task.includeText && { text: textOf(read) }),
    ...(task.includePages && { pages: shownPages(read) }),
    usage,
  };
};

const textOf = ({ pages }: ReadDocument): string =>
  pages.map(({ lines }) => lines.map(({ text }) => text).join('\n')).join('\n\f');

const askWindows = async (
  ask: AskForJson,
  { schema, instructions, llmId, document: { signal } }: ExtractionTask,
  { pages }: ReadDocument,
): Promise<{ answer: unknown; usage: Usage; isCut: boolean }> => {
  const printed = printSchema(schema.root);
  const { questions, isCut } = questionsFor(pages, { schema: printed, instructions });
  const usage = { input_tokens: 0, output_tokens: 0 };
  let answer: unknown = null;
  for (const question of questions) {
    const reply = await ask(llmId, { ...question, schema: printed, signal });
    if ('failure' in reply) throw new ExtractionFailure(reply.failure.code, reply.failure.message);
    usage.input_tokens += reply.usage.input_tokens;
    usage.output_tokens += reply.usage.output_tokens;
    const object = objectIn(reply.text);
    if (!object) {
      throw new ExtractionFailure('model_answer_invalid', 'The model did not reply with a JSON object.');
    }
    answer = mergeAnswers(answer, object);
  }
  return { answer, usage, isCut };
};

const ground = async (
  data: Extracted['data'],
  { schema: { root }, requireGrounding }: ExtractionTask,
  { pages }: ReadDocument,
): Promise<Pick<Extracted, 'data' | 'fields' | 'warnings'>> => {
  const values: Exclude<Scalar, null>[] = [];
  mapScalars(data, root, (value) => {
    values.push(value);
    return value;
  });
  const found = (await groundValues(values, pages)).values();
  const fields: Extracted['fields'] = {};
  const warnings: Warning[] = [];
  const kept = mapScalars(data, root, (value, path) => {
    const { confidence, citations, isFound } = found.next().value!;
    if (!isFound) {
      warnings.push({ code: 'not_grounded', path, message: 'The value was not found in the document.' });
      if (requireGrounding) return null;
    }
    fields[path] = { confidence, citations };
    return value;
  });
  return { data: kept, fields, warnings };
};
