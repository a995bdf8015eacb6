import { parseJson } from '../../lib/json.ts';
import { isObject } from '../../lib/objects.ts';
import { nestsDeeperThan, storageFaults } from '../../lib/text.ts';
import { mostNesting } from '../../lib/yaml.ts';
import type { DatasetMode } from '../datasets/store.ts';

/** Types and functions that the readers of all formats share. */

export const formats = ['jsonl', 'openai_evals', 'promptfoo'] as const;
export type Format = (typeof formats)[number];

/** A remark or a fault, with the line of the file that it is about, from 1. */
export interface Note {
  line: number;
  message: string;
}

/** A case as a file has it: the fields of a case, not checked yet. What it leaves out stays as it is in an update. */
export interface ReadCase {
  line: number;
  fields: Record<string, unknown>;
}

export interface ReadFile {
  cases: ReadCase[];
  warnings: Note[];
  faults: Note[];
}

export interface ReadOptions {
  mode: DatasetMode;
  /** The key of the message or of what is expected, instead of the usual ones. */
  messageField: string | undefined;
  expectedField: string | undefined;
}

/** A line with an object. */
export interface ObjectLine {
  line: number;
  value: Record<string, unknown>;
}

const parseLine = (text: string): Record<string, unknown> | string => {
  if (nestsDeeperThan(text, mostNesting)) return `nests deeper than ${mostNesting} levels`;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return 'is not valid JSON';
  }
  if (!isObject(value)) return 'must be an object';
  const [fault] = storageFaults(value);
  return fault ? `${fault.path}: ${fault.message}` : value;
};

/** The objects of JSON Lines. Empty lines are passed over. */
export const readLines = (content: string): { lines: ObjectLine[]; faults: Note[] } => {
  const lines: ObjectLine[] = [];
  const faults: Note[] = [];
  for (const [i, text] of content.split('\n').entries()) {
    if (text.trim() === '') continue;
    const value = parseLine(text);
    if (typeof value === 'string') faults.push({ line: i + 1, message: value });
    else lines.push({ line: i + 1, value });
  }
  return { lines, faults };
};

/** The first line that is not empty, as an object; undefined if it is none by itself. */
export const firstObject = (content: string): Record<string, unknown> | undefined => {
  const text = content.split('\n').find((line) => line.trim() !== '');
  const value = text === undefined ? undefined : parseLine(text);
  return typeof value === 'object' ? value : undefined;
};
