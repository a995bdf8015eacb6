import { type Expression, engineNames, parseExpression, type Source } from '@agent-platform/sql';
import { LRUCache } from 'lru-cache';
import type { Dialect } from '../../data-connections/index.ts';
import type { DialectExpressions } from '../ossie.ts';

const own = { postgres: 'POSTGRESQL', mysql: 'MYSQL', sqlite: 'SQLITE' } as const;

/** The dialects that are read, the engine's own first. All are parsed by PostgreSQL's grammar. */
export const dialectsOf = ({ engine }: Dialect): string[] => [own[engine], 'OSSIE_SQL_2026', 'ANSI_SQL'];

/** The text for this engine; null if there is none. */
export const textFor = ({ dialects }: DialectExpressions, dialect: Dialect): string | null => {
  for (const name of dialectsOf(dialect)) {
    const found = dialects.find((each) => each.dialect.toUpperCase() === name);
    if (found) return found.expression;
  }
  return null;
};

/**
 * Trees of expressions by their texts: each query of a model needs those of its fields again, and no one changes a tree.
 * A tree takes some 50 times the memory of its text, so these are at most about 10 MB.
 */
const parsed = new LRUCache<string, Expression>({
  max: 5_000,
  maxSize: 200_000,
  sizeCalculation: (_tree, text) => text.length,
});

/** The expression for this engine. Throws SqlRefusal; Error if there is none, which `checkModel` finds first. */
export const expressionFor = (expressions: DialectExpressions, dialect: Dialect): Expression => {
  const text = textFor(expressions, dialect);
  if (text === null) throw new Error('no expression for this dialect');
  const known = parsed.get(text);
  if (known) return known;
  const tree = parseExpression(text);
  parsed.set(text, tree);
  return tree;
};

const part = /^(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{M}\p{N}_$]*))(?:\.|$)/u;
const longest = 128;

/** The parts of `schema.table`; null if the text is no list of names. */
const partsOf = (text: string, foldsCase: boolean): string[] | null => {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const found = part.exec(rest);
    if (!found) return null;
    const [whole, quoted, plain] = found;
    const name =
      quoted === undefined ? (foldsCase ? plain!.toLowerCase() : plain!) : quoted.replaceAll('""', '"');
    if (name.length > longest || name.includes('\0')) return null;
    parts.push(name);
    rest = rest.slice(whole.length);
    // A point needs a name after it.
    if (rest === '' && whole.endsWith('.')) return null;
  }
  return parts.length === 0 ? null : parts;
};

/** The table of a `source`, or what is wrong with it. Names without quotes are in small letters on PostgreSQL. */
export const sourceOf = (text: string, dialect: Dialect): Source | string => {
  const { engine, database, defaultSchema } = dialect;
  const parts = partsOf(text, engine === 'postgres');
  if (!parts)
    return 'must name a table as `table`, `schema.table` or `database.schema.table`; a query is not supported';
  const [first, second, third, fourth] = parts;
  if (second === undefined) return { schema: defaultSchema, table: first! };
  if (third === undefined) return { schema: first!, table: second };
  if (engine !== 'postgres') return `must have two parts at most on ${engineNames[engine]}`;
  if (fourth !== undefined) return 'must have three parts at most';
  if (first !== database) return `must begin with the database of the data connection, ${database}`;
  return { schema: second, table: third };
};
