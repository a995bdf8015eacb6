import { isObject } from '../../lib/objects.ts';
import { readJsonl } from './jsonl.ts';
import { readOpenaiEvals } from './openai-evals.ts';
import { readPromptfoo } from './promptfoo.ts';
import { type Format, firstObject, type ReadFile, type ReadOptions } from './reading.ts';

/**
 * Returns the format that a text is in, by its first line: a case, an item or a test. Anything that is no object a line
 * is a document of promptfoo.
 */
export const formatOf = (content: string): Format => {
  const first = firstObject(content);
  if (!first || 'vars' in first || 'tests' in first) return 'promptfoo';
  if (isObject(first.input)) return 'jsonl';
  const isItem = ['item', 'input', 'ideal', 'question', 'prompt', 'message'].some((key) => key in first);
  return isItem ? 'openai_evals' : 'jsonl';
};

/** Reads a file of cases. Nothing of it is checked yet but its form. */
export const readFile = async (content: string, format: Format, options: ReadOptions): Promise<ReadFile> => {
  switch (format) {
    case 'jsonl':
      return readJsonl(content);
    case 'openai_evals':
      return readOpenaiEvals(content, options);
    case 'promptfoo':
      return readPromptfoo(content, options);
  }
};
