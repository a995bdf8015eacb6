import { Document, type LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import { parseJson } from './json.ts';
import { isObject } from './objects.ts';

/** Reading YAML 1.2: one document, without tags of its own and duplicate keys. And writing it. */

/** As deep as the body of a request may be. */
export const mostNesting = 200;

/** The reason why a text cannot be read, and its line if there is one, from 1. */
export class YamlFault extends Error {
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

const tooDeep = (): YamlFault => new YamlFault(`nests deeper than ${mostNesting} levels`);

/** Integers as numbers if they keep their digits, as in bodies of requests. */
const withNumbers = (value: unknown, depth = 0): unknown => {
  if (depth > mostNesting) throw tooDeep();
  if (typeof value === 'bigint') return (parseJson(`[${value}]`) as unknown[])[0];
  if (Array.isArray(value)) return value.map((one) => withNumbers(one, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, withNumbers(field, depth + 1)]),
  );
};

/** The one document of a text of YAML or JSON. It blocks: a megabyte takes up to 1.5 s. Throws YamlFault. */
export const yamlDocument = (
  text: string,
  options: { merge: boolean; lineCounter?: LineCounter },
): Document<Node, boolean> => {
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    documents = parseAllDocuments(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      intAsBigInt: true,
      ...options,
    });
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : new YamlFault('is neither YAML nor JSON');
  }
  const [only, ...others] = Array.isArray(documents) ? documents : [];
  if (!only) throw new YamlFault('is empty');
  if (others.length > 0) throw new YamlFault('has several YAML documents');
  const [error] = only.errors;
  if (error) throw new YamlFault('is neither YAML nor JSON', error.linePos?.[0].line);
  return only;
};

/** The value of a document. A few aliases can stand for any amount of text, so there is a limit. Throws YamlFault. */
export const yamlValue = (document: Document<Node, boolean>, maxAliasCount: number): unknown => {
  try {
    return withNumbers(document.toJS({ maxAliasCount }));
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    if (error instanceof ReferenceError) throw new YamlFault('has too many aliases');
    throw error;
  }
};

/** Text that only double quotes keep: with such characters, or with nothing but spaces and ends of lines. */
const special = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]|^[ \n]+$/;

/** The document as YAML. The same document gives the same bytes. */
export const toYaml = (document: object): string => {
  const yaml = new Document(document, { version: '1.2', schema: 'core', aliasDuplicateObjects: false });
  visit(yaml, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && special.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return yaml.toString({ lineWidth: 0 });
};
