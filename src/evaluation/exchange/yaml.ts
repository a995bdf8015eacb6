import { isMap, isNode, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { parseJson } from '../../lib/json.ts';
import { isObject } from '../../lib/objects.ts';
import { mostNesting } from './reading.ts';

/** The value of a text of YAML 1.2 or JSON, and where its parts begin; or the reason that it cannot be read. */
export type ReadYaml =
  | {
      value: unknown;
      /** The lines of what is at these paths (`/tests/3/assert/0`), from 1, three levels of lists deep. */
      lines: Map<string, number>;
    }
  | { fault: string; line: number };

class YamlFault extends Error {}

/** Integers as numbers if they keep their digits, as in bodies of requests. */
const withNumbers = (value: unknown, depth = 0): unknown => {
  if (depth > mostNesting) throw new YamlFault(`nests deeper than ${mostNesting} levels`);
  if (typeof value === 'bigint') return (parseJson(`[${value}]`) as unknown[])[0];
  if (Array.isArray(value)) return value.map((one) => withNumbers(one, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, withNumbers(field, depth + 1)]),
  );
};

/** Levels below the root whose lines are kept: of tests, their assertions and the fields of those. */
const levels = 5;

const collectLines = (
  node: unknown,
  counter: LineCounter,
  path: string,
  level: number,
  lines: Map<string, number>,
) => {
  if (!isNode(node)) return;
  const { range } = node as Node;
  if (range) lines.set(path, counter.linePos(range[0]).line);
  if (level === levels) return;
  if (isSeq(node)) {
    node.items.forEach((item, i) => {
      collectLines(item, counter, `${path}/${i}`, level + 1, lines);
    });
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      const name = `${path}/${isNode(key) && 'value' in key ? String(key.value) : ''}`;
      collectLines(value, counter, name, level + 1, lines);
      // The line of a key, not that of a block below it.
      const range = isNode(key) ? key.range : undefined;
      if (range) lines.set(name, counter.linePos(range[0]).line);
    }
  }
};

/** Reads a text. It blocks: a megabyte takes up to 1.5 s, so `yaml-worker.ts` does it. */
export const readYaml = (text: string): ReadYaml => {
  const counter = new LineCounter();
  try {
    const options = {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      merge: true,
      intAsBigInt: true,
    } as const;
    const documents = parseAllDocuments(text, { ...options, lineCounter: counter });
    const [only, ...others] = Array.isArray(documents) ? documents : [];
    if (!only) return { fault: 'is empty', line: 1 };
    if (others.length > 0) return { fault: 'has several YAML documents', line: 1 };
    const [error] = only.errors;
    if (error) return { fault: 'is neither YAML nor JSON here', line: error.linePos?.[0].line ?? 1 };
    const lines = new Map<string, number>();
    collectLines(only.contents, counter, '', 0, lines);
    // An alias stands for more text than it is: so many are far more than a person writes.
    return { value: withNumbers(only.toJS({ maxAliasCount: 1_000 })), lines };
  } catch (error) {
    if (error instanceof YamlFault) return { fault: error.message, line: 1 };
    if (error instanceof RangeError) return { fault: `nests deeper than ${mostNesting} levels`, line: 1 };
    if (error instanceof ReferenceError) return { fault: 'has too many aliases', line: 1 };
    throw error;
  }
};
