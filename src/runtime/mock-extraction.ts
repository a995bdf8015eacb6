import type { Message } from './messages.ts';

interface Node {
  type: string | string[];
  title?: string;
  properties?: Record<string, Node>;
  items?: Node;
}

const answerPrefix = 'Instructions:\nmock:';

const isA = ({ type }: Node, name: string): boolean => [type].flat().includes(name);

/** Returns the text after `label` on the first line that has it and `:`, `#` or a blank after it; null without one. */
const labelled = (lines: readonly string[], label: string): string | null => {
  const wanted = label.toLowerCase();
  if (wanted.trim() === '') return null;
  for (const line of lines) {
    const folded = line.toLowerCase();
    for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + 1)) {
      const end = at + wanted.length;
      const begins = !/[\p{L}\p{N}]/u.test(folded[at - 1] ?? '');
      const rest = line.slice(end);
      if (!begins || !/^(?::|#|\s)/.test(rest)) continue;
      const value = rest.replace(/^[\s:#]+/, '').trim();
      if (value !== '') return value;
    }
  }
  return null;
};

const leafOf = (lines: readonly string[], name: string, node: Node): unknown => {
  if (isA(node, 'object')) return objectOf(lines, node);
  const isList = isA(node, 'array');
  if (isList && (isA(node.items!, 'object') || isA(node.items!, 'array'))) return [];
  const labels = [name.replaceAll('_', ' '), ...(node.title === undefined ? [] : [node.title])];
  const text = labels.map((label) => labelled(lines, label)).find((found) => found !== null) ?? null;
  return isList && text !== null ? text.split(',').map((item) => item.trim()) : text;
};

const objectOf = (lines: readonly string[], node: Node): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(node.properties ?? {}).map(([name, property]) => [name, leafOf(lines, name, property)]),
  );

/**
 * The built-in model's reply to a question for JSON: each leaf is the rest of the first line of the document that has
 * its key, with blanks for `_`, or its title. The instructions `mock:{…}` are the reply instead.
 */
export const mockJson = (messages: readonly Message[], schema: Record<string, unknown>): string => {
  const texts = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const scripted = texts.find((text) => text.startsWith(answerPrefix));
  if (scripted !== undefined) return scripted.slice(answerPrefix.length);
  const lines = texts.flatMap((text) => [...text.matchAll(/^\d+\t(.*)$/gm)].map(([, line]) => line!));
  return JSON.stringify(objectOf(lines, schema as unknown as Node));
};
