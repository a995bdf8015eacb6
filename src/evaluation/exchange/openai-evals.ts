import { isObject } from '../../lib/objects.ts';
import { notesAt, readItem } from './items.ts';
import { type ReadFile, type ReadOptions, readLines } from './reading.ts';

/** Reads the lines of OpenAI evals: `{input, ideal}`, or `{item: {…}}` of its data sources. */
export const readOpenaiEvals = (content: string, options: ReadOptions): ReadFile => {
  const { lines, faults } = readLines(content);
  const file: ReadFile = { cases: [], warnings: [], faults };
  for (const { line, value } of lines) {
    const { item, ...besides } = value;
    const isWrapped = isObject(item);
    const read = readItem(isWrapped ? item : value, options);
    if ('fault' in read) {
      file.faults.push({ line, message: read.fault });
      continue;
    }
    const leftOut = isWrapped ? Object.keys(besides).map((key) => `\`${key}\` is left out`) : [];
    file.warnings.push(...notesAt(line, [...read.notes, ...leftOut]));
    file.cases.push({ line, fields: read.fields });
  }
  return file;
};
