import { parseAllDocuments, visit } from 'yaml';
import { parseJson } from '../lib/json.ts';
import { isObject } from '../lib/objects.ts';

/** Reading YAML 1.2: one document, without aliases, tags of its own and duplicate keys. */

/** As deep as the body of a request may be. */
export const mostNesting = 200;

/** The value of a text, or the reason that it cannot be read. */
export type Parsed = { value: unknown } | { fault: string };

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

const read = (text: string): unknown => {
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    documents = parseAllDocuments(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      merge: false,
      intAsBigInt: true,
    });
  } catch {
    throw new YamlFault('is neither YAML nor JSON');
  }
  const [only, ...others] = Array.isArray(documents) ? documents : [];
  if (!only) throw new YamlFault('is empty');
  if (others.length > 0) throw new YamlFault('has several YAML documents');
  const [error] = only.errors;
  if (error) {
    const line = error.linePos?.[0].line;
    throw new YamlFault(`is neither YAML nor JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
  // A few aliases can stand for any amount of text.
  let hasAlias = false;
  visit(only, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (hasAlias) throw new YamlFault('has aliases, which are not supported');
  try {
    return withNumbers(only.toJS({ maxAliasCount: 0 }));
  } catch (error) {
    if (error instanceof RangeError) throw new YamlFault(`nests deeper than ${mostNesting} levels`);
    throw error;
  }
};

/** Reads a text. It blocks: a megabyte takes up to 1.5 s. */
export const parseYaml = (text: string): Parsed => {
  try {
    return { value: read(text) };
  } catch (error) {
    if (error instanceof YamlFault) return { fault: error.message };
    throw error;
  }
};
