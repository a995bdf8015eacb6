import { type AiContext, type Field, type SemanticModel, synonymsOf } from './ossie.ts';

/** The description of a semantic model for the LLM that translates questions: no table and no column of the database. */

const instructionsOf = (context: AiContext | undefined): string =>
  typeof context === 'string' ? context : (context?.instructions ?? '');

const about = (
  one: { description?: string; ai_context?: AiContext },
  ...more: (string | undefined)[]
): string => {
  const synonyms = synonymsOf(one);
  const parts = [
    ...more,
    one.description,
    synonyms.length > 0 ? `also called ${synonyms.join(', ')}` : undefined,
    instructionsOf(one.ai_context),
  ].filter((part) => part);
  return parts.length === 0 ? '' : `: ${parts.join('. ').replaceAll(/\s+/g, ' ')}`;
};

const fieldLine = (field: Field): string => {
  const time = field.dimension?.is_time ? ', time' : '';
  return `  - ${field.name} (${field.datatype ?? 'unknown type'}${time})${about(field, field.label)}`;
};

export const describeDataset = (model: SemanticModel, name: string): string | undefined => {
  const dataset = model.datasets.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!dataset) return undefined;
  return [`dataset ${dataset.name}${about(dataset)}`, ...(dataset.fields ?? []).map(fieldLine)].join('\n');
};

/** The parts of a model that every description begins with. */
const frame = (model: SemanticModel): string =>
  [
    `model ${model.name}${about(model)}`,
    ...(model.relationships ?? []).map(
      (one) => `relationship ${one.name}: many ${one.from} to one ${one.to}${about(one)}`,
    ),
    ...(model.metrics ?? []).map(
      (one) => `metric ${one.name} (${one.datatype ?? 'unknown type'})${about(one)}`,
    ),
  ].join('\n');

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );

const shared = (words: ReadonlySet<string>, text: string): number =>
  [...wordsOf(text)].filter((word) => words.has(word)).length;

/** The items that share the most words with `question` first; those that share as many stay in their order. */
export const nearestFirst = <T>(question: string, items: readonly T[], textOf: (item: T) => string): T[] => {
  const words = wordsOf(question);
  return items
    .map((item) => ({ item, score: shared(words, textOf(item)) }))
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
};

/**
 * A description of at most `mostBytes`: metrics and relationships, then the datasets, those first that share words with
 * the question. What does not fit is left out, and named.
 */
export const describeModel = (model: SemanticModel, mostBytes: number, question = ''): string => {
  const datasets = nearestFirst(
    question,
    model.datasets.map(({ name }) => ({ name, text: describeDataset(model, name)! })),
    ({ text }) => text,
  );
  let text = frame(model).slice(0, mostBytes);
  let bytes = Buffer.byteLength(text);
  const leftOut: string[] = [];
  for (const dataset of datasets) {
    const size = Buffer.byteLength(dataset.text) + 1;
    if (bytes + size > mostBytes) leftOut.push(dataset.name);
    else {
      text += `\n${dataset.text}`;
      bytes += size;
    }
  }
  if (leftOut.length > 0) text += `\nnot described here: ${leftOut.join(', ').slice(0, 2_000)}`;
  return text;
};
