import { isMap, isNode, isSeq, LineCounter, type Node } from 'yaml';
import { YamlFault, yamlDocument, yamlValue } from '../../lib/yaml.ts';

/** The value of a text of YAML 1.2 or JSON, and where its parts begin; or the reason that it cannot be read. */
export type ReadYaml =
  | {
      value: unknown;
      /** The lines of what is at these paths (`/tests/3/assert/0`), from 1, three levels of lists deep. */
      lines: Map<string, number>;
    }
  | { fault: string; line: number };

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

/** An alias stands for more text than it is: so many are far more than a person writes. */
const mostAliases = 1_000;

/** Reads a text. It blocks: a megabyte takes up to 1.5 s, so `yaml-worker.ts` does it. */
export const readYaml = (text: string): ReadYaml => {
  const counter = new LineCounter();
  try {
    const document = yamlDocument(text, { merge: true, lineCounter: counter });
    const lines = new Map<string, number>();
    collectLines(document.contents, counter, '', 0, lines);
    return { value: yamlValue(document, mostAliases), lines };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    const { message, line } = error;
    return line === undefined ? { fault: message, line: 1 } : { fault: `${message} here`, line };
  }
};
