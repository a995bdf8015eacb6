import { JobFault } from '../fault.ts';
import type { Cell } from './column.ts';

/** Reviver of JSON.parse, which gets the text of a number with every digit besides the value. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
interface RawJson {
  rawJSON: string;
}
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

const keepDigits: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined ? json.rawJSON(source) : value;

/** One object: its keys and cells. */
export type JsonRow = [key: string, cell: Cell | null][];

const cellOf = (value: unknown): Cell | null => {
  if (value === null) return null;
  if (json.isRawJSON(value)) return { kind: 'number', text: value.rawJSON };
  if (typeof value === 'boolean') return { kind: 'boolean', text: String(value) };
  // An empty text is no value, as in a CSV file.
  if (typeof value === 'string') return value === '' ? null : { kind: 'string', text: value };
  return { kind: 'text', text: JSON.stringify(value) };
};

const readObject = (text: string, where: () => string): JsonRow => {
  let value: unknown;
  try {
    value = json.parse(text, keepDigits);
  } catch {
    // Also what is nested too deeply for a reviver.
    throw new JobFault('unreadable', `${where()} is not JSON`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value) || json.isRawJSON(value)) {
    throw new JobFault('unreadable', `${where()} is not an object`);
  }
  return Object.entries(value).map(([key, item]) => [key, cellOf(item)]);
};

/** The rows of an NDJSON file: an object a line, empty lines aside. */
export function* readNdjson(text: string): Generator<JsonRow> {
  let number = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? undefined : end);
    number++;
    const here = number;
    if (line.trim() !== '') yield readObject(line, () => `line ${here}`);
    if (end === -1) return;
    at = end + 1;
  }
}

/**
 * The position behind the text that begins at `begin`; -1 if it does not end. A regular expression for it fills the stack
 * after 8 million characters.
 */
const endOfText = (text: string, begin: number): number => {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
};

/** The rows of a JSON file, which is one list of objects. They are parsed one by one: the list may be too large. */
export function* readJson(text: string): Generator<JsonRow> {
  const fail = (what: string) => new JobFault('unreadable', `the file is not a list of objects: ${what}`);
  const begin = /^\s*\[\s*/.exec(text)?.[0].length;
  if (begin === undefined) throw fail('it does not begin with [');
  const structure = /["{}[\],]/g;
  structure.lastIndex = begin;
  let depth = 1;
  let from = begin;
  let number = 0;
  for (let found = structure.exec(text); found; found = structure.exec(text)) {
    const [token] = found;
    if (token === '"') {
      const end = endOfText(text, found.index);
      if (end === -1) break;
      structure.lastIndex = end;
    } else if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token !== ',') continue;
    if (depth === 0 || (token === ',' && depth === 1)) {
      const item = text.slice(from, found.index);
      number++;
      const here = number;
      if (item.trim() !== '' || token === ',' || number > 1) yield readObject(item, () => `item ${here}`);
      from = structure.lastIndex;
    }
    if (depth === 0) {
      if (token !== ']') throw fail('it does not end with ]');
      if (text.slice(from).trim() !== '') throw fail('something follows it');
      return;
    }
  }
  throw fail('it does not end');
}
