import { ApiError } from '../../lib/errors.ts';
import { addUsage, noUsage, type Usage } from '../../lib/usage.ts';
import type { AskedModel, AskModel } from '../../llm-configurations/index.ts';
import { type Citation, type Confidence, groundValues } from '../grounding/ground.ts';
import { type DocumentToRead, type ReadDocument, readDocument } from '../readers/index.ts';
import { coerceData, type DataValue, hasRequired, mapScalars, type Scalar } from '../schema/coerce.ts';
import { printSchema } from '../schema/print.ts';
import type { ExtractionSchema } from '../schema/schema.ts';
import { ExtractionFailure } from './failure.ts';
import { mergeAnswers } from './merge.ts';
import { questionsFor } from './prompt.ts';
import { type ShownPage, shownPages } from './shown-pages.ts';

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

/** The longest extraction, in milliseconds, from the moment that it runs. */
export const maxRunMs = 300_000;

export interface ExtractionTask {
  document: DocumentToRead;
  /** Which LLM is asked; neither id: the default one. */
  llm: Parameters<AskModel>[0];
  schema: ExtractionSchema;
  instructions: string;
  includeText: boolean;
  includePages: boolean;
  requireGrounding: boolean;
}

/** Reads the document, asks the model, makes the answer fit the schema, and searches each value in the document. */
export const extract = async (
  parts: Parameters<typeof readDocument>[0] & { askModel: AskModel },
  task: ExtractionTask,
): Promise<Extracted> => {
  const read = await readDocument(parts, task.document);
  const { answer, usage, isCut } = await askWindows(parts.askModel, task, read);
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

const openModel = async (askModel: AskModel, llm: ExtractionTask['llm']): Promise<AskedModel> => {
  try {
    return await askModel(llm);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    throw new ExtractionFailure('model_unavailable', 'There is no such LLM configuration.');
  }
};

const askWindows = async (
  askModel: AskModel,
  { schema, instructions, llm, document: { signal } }: ExtractionTask,
  { pages }: ReadDocument,
): Promise<{ answer: unknown; usage: Usage; isCut: boolean }> => {
  const printed = printSchema(schema.root);
  const { questions, isCut } = questionsFor(pages, { schema: printed, instructions });
  const model = await openModel(askModel, llm);
  let usage: Usage = noUsage;
  let answer: unknown = null;
  for (const messages of questions) {
    const reply = await model.askForObject({
      purpose: 'extraction',
      messages,
      schema: printed,
      as: 'reply',
      signal,
      mostCalls: 3,
      withinMs: maxRunMs,
    });
    usage = addUsage(usage, reply.usage);
    if (!reply.output) {
      throw new ExtractionFailure('model_answer_invalid', 'The model did not reply with a JSON object.');
    }
    answer = mergeAnswers(answer, reply.output);
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
