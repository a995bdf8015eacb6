import { LRUCache } from 'lru-cache';
import { columnAt, compileExpression, type Expression, type ExpressionProblem } from './cel.ts';

/** Text with `{{ expression }}` in it, as its parts in order. */
export type Template = readonly (string | Expression)[];

type Compiled = { template: Template } | { problem: ExpressionProblem };

/** The length of a string literal of the Common Expression Language that begins at `at`. It may not be closed. */
const literalLength = (text: string, at: number): number => {
  const quote = text[at]!;
  const isRaw = /[rR]/.test(text[at - 1] ?? '') && !/\w\w$/.test(text.slice(Math.max(0, at - 2), at));
  const end = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
  let i = at + end.length;
  while (i < text.length && !text.startsWith(end, i)) i += text[i] === '\\' && !isRaw ? 2 : 1;
  return i + end.length - at;
};

/** The offset of the `}}` that ends an expression; -1 if nothing does. Braces of maps, and text in quotes, are inside. */
const endOf = (text: string, from: number): number => {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"' || c === "'") i += literalLength(text, i) - 1;
    else if (c === '{') depth++;
    else if (c === '}' && depth > 0) depth--;
    else if (c === '}' && text[i + 1] === '}') return i;
  }
  return -1;
};

const compile = (text: string): Compiled => {
  const parts: (string | Expression)[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf('{{', at);
    if (start === -1) break;
    if (start > at) parts.push(text.slice(at, start));
    const end = endOf(text, start + 2);
    if (end === -1)
      return { problem: { message: 'The {{ is not closed by }}.', column: columnAt(text, start) } };
    const source = text.slice(start + 2, end);
    const expression = compileExpression(source);
    if ('message' in expression) {
      // On the first line of the expression the text before it counts too.
      const isFirstLine = source.lastIndexOf('\n') === -1;
      const column = isFirstLine ? columnAt(text, start + 2) + expression.column - 1 : expression.column;
      return { problem: { message: expression.message, column } };
    }
    parts.push(expression);
    at = end + 2;
  }
  if (at < text.length) parts.push(text.slice(at));
  return { template: parts };
};

const compiled = new LRUCache<string, Compiled>({
  max: 1_000,
  maxSize: 4_000_000,
  sizeCalculation: (_, text) => text.length + 1,
});

/** Reads text with expressions, or returns its first fault. */
export const compileTemplate = (text: string): Compiled => {
  const known = compiled.get(text);
  if (known) return known;
  const made = compile(text);
  compiled.set(text, made);
  return made;
};
