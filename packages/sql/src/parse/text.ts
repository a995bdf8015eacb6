import { hasSqlDetails, loadModule, type Node, parseSync, scanSync } from 'libpg-query';
import { notSupported, SqlRefusal } from '../refusal.ts';

// PostgreSQL's own parser, compiled to WebAssembly. Loading it takes 27 ms, once.
await loadModule();

const limits = { characters: 50_000, nodes: 5_000, depth: 100, joins: 20 } as const;

/** One statement, and where its nodes stand. */
export interface Parsed {
  statement: Node;
  /** The position, in characters from 1, of a `location` of the parser (in bytes); undefined where it has none. */
  at(location: number | undefined): number | undefined;
}

/** The number of Unicode code points, which people call characters. */
const characters = (text: string): number => {
  let n = 0;
  for (const _ of text) n++;
  return n;
};

/** The parser counts UTF-8 bytes; people count characters. */
const positions = (text: string): ((location: number) => number) => {
  if (/^[\x00-\x7f]*$/.test(text)) return (location) => location + 1;
  const bytes = Buffer.from(text);
  return (location) => characters(bytes.subarray(0, location).toString()) + 1;
};

const emptyCall = /current_(date|time|timestamp)\s*\(\s*\)/i;

/**
 * Without the parentheses of `CURRENT_DATE()`, which PostgreSQL's grammar does not have and Ossie's does. Blanks stand
 * in their place, so that all positions stay.
 */
const withoutEmptyCalls = (text: string): string => {
  if (!emptyCall.test(text)) return text;
  const tokens = scanSync(text).tokens.filter(({ tokenName }) => !tokenName.endsWith('COMMENT'));
  const bytes = Buffer.from(text);
  for (const [i, token] of tokens.entries()) {
    const [open, close] = [tokens[i + 1], tokens[i + 2]];
    if (
      !/^current_(date|time|timestamp)$/i.test(token.text) ||
      token.keywordKind === 0 ||
      open?.text !== '(' ||
      close?.text !== ')'
    )
      continue;
    bytes.fill(' ', open.start, open.end);
    bytes.fill(' ', close.start, close.end);
  }
  return bytes.toString();
};

const syntaxError = (text: string, before: string, error: unknown): SqlRefusal => {
  if (!hasSqlDetails(error) || !error.sqlDetails) {
    // The parser gives up on expressions nested thousands deep; it works again afterwards.
    return notSupported(
      `The SQL is nested too deeply. Write it with at most ${limits.depth} nested expressions.`,
    );
  }
  const { message, cursorPosition } = error.sqlDetails;
  if (/stack depth|memory/i.test(message)) return notSupported(`The SQL is too large: ${message}.`);
  const near = /at or near "(.*)"/s.exec(message)?.[1] ?? null;
  const position =
    cursorPosition >= 0
      ? Math.max(1, Math.min(cursorPosition + 1, characters(text) + 1) - before.length)
      : null;
  return new SqlRefusal('syntax_error', `The SQL cannot be parsed: ${message}.`, { name: near, position });
};

const isNode = (key: string): boolean => /^[A-Z]/.test(key);

/** Refuses more nodes, depth or joins than allowed. It keeps its own stack, so that no tree is too deep for it. */
const checkSize = (root: unknown): void => {
  let nodes = 0;
  let joins = 0;
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, depth } = item;
    if (value === null || typeof value !== 'object') continue;
    if (Array.isArray(value)) {
      for (const each of value) open.push({ value: each, depth });
      continue;
    }
    for (const [key, child] of Object.entries(value)) {
      // `larg` and `rarg` of a set operation are nodes without a type of their own.
      const inside = isNode(key) || key === 'larg' || key === 'rarg' ? depth + 1 : depth;
      if (isNode(key)) nodes++;
      if (key === 'JoinExpr') joins++;
      if (key === 'fromClause' && Array.isArray(child)) joins += child.length - 1;
      if (nodes > limits.nodes)
        throw notSupported(`The SQL has more than ${limits.nodes} nodes. Write a smaller query.`);
      if (inside > limits.depth)
        throw notSupported(`The SQL is nested deeper than ${limits.depth} levels. Write a flatter query.`);
      if (joins > limits.joins)
        throw notSupported(`The SQL has more than ${limits.joins} joins. Write a smaller query.`);
      open.push({ value: child, depth: inside });
    }
  }
};

/** Parentheses make no nodes: those of an expression are counted before it is parsed. */
const checkParentheses = (text: string): void => {
  if (text.split('(').length <= limits.depth) return;
  let depth = 0;
  for (const token of scanSync(text).tokens) {
    if (token.text === '(' && ++depth > limits.depth)
      throw notSupported(`The SQL is nested deeper than ${limits.depth} levels. Write a flatter query.`);
    if (token.text === ')') depth--;
  }
};

/** The one statement of `before` + `text`; positions are those in `text`. */
export const parseStatement = (given: string, before = ''): Parsed => {
  const text = before + given;
  const length = characters(given);
  if (length > limits.characters)
    throw notSupported(
      `The SQL has ${length} characters. At most ${limits.characters} characters are allowed.`,
    );
  // The parser reads up to a NUL, so that what follows it would be accepted unseen.
  const bad = text.search(/\0/);
  if (bad !== -1 || !text.isWellFormed())
    throw new SqlRefusal('syntax_error', 'The SQL has a character that is not text: NUL or half of a pair.', {
      position: bad === -1 ? null : Math.max(1, characters(text.slice(0, bad)) + 1 - before.length),
    });
  if (given.trim() === '') throw new SqlRefusal('syntax_error', 'The SQL is empty.', { position: 1 });
  let statements: { stmt?: Node; stmt_location?: number }[];
  try {
    checkParentheses(text);
    statements = parseSync(withoutEmptyCalls(text)).stmts ?? [];
  } catch (error) {
    if (error instanceof SqlRefusal) throw error;
    throw syntaxError(text, before, error);
  }
  const position = positions(text);
  const at = (location: number | undefined) =>
    location !== undefined && location >= 0 ? Math.max(1, position(location) - before.length) : undefined;
  const [first, second] = statements;
  if (!first?.stmt) throw new SqlRefusal('syntax_error', 'The SQL has no statement.', { position: 1 });
  if (second)
    throw new SqlRefusal('multiple_statements', 'The SQL has more than one statement. Write one SELECT.', {
      position: at(second.stmt_location ?? 0) ?? null,
    });
  checkSize(first.stmt);
  return { statement: first.stmt, at };
};
