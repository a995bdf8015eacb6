import { parseAllDocuments, visit, Document as YamlDocument } from 'yaml';
import { type ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { isObject } from '../lib/objects.ts';
import { nestsDeeperThan, storageFaults } from '../lib/text.ts';

/** A document of the workspace as text: YAML 1.2 or JSON. */

/** The lists and the other parts of a document, in the order in which an export writes them. */
export const documentKeys = [
  'version',
  'settings',
  'branding',
  'llm_configurations',
  'default_llm',
  'tool_servers',
  'data_connections',
  'semantic_data_models',
  'agents',
  'integrations',
  'role_mappings',
  'document_intelligence',
] as const;

export type DocumentKey = (typeof documentKeys)[number];
export type WorkspaceDocument = Partial<Record<DocumentKey, unknown>>;

const mostBytes = 5 * 1_048_576;
/** As deep as the body of a request may be. */
const mostNesting = 200;

const fault = (message: string): ApiError => unprocessable([{ path: 'document', message }]);

/** Integers as numbers if they keep their digits, as in bodies of requests. */
const withNumbers = (value: unknown, depth = 0): unknown => {
  if (depth > mostNesting) throw fault(`nests deeper than ${mostNesting} levels`);
  if (typeof value === 'bigint') return (parseJson(`[${value}]`) as unknown[])[0];
  if (Array.isArray(value)) return value.map((one) => withNumbers(one, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, withNumbers(field, depth + 1)]),
  );
};

const parseYaml = (text: string): unknown => {
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
    throw fault('is neither YAML nor JSON');
  }
  const [only, ...others] = Array.isArray(documents) ? documents : [];
  if (!only) throw fault('is empty');
  if (others.length > 0) throw fault('has several YAML documents');
  const [error] = only.errors;
  if (error) {
    const line = error.linePos?.[0].line;
    throw fault(`is neither YAML nor JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
  // A few aliases can stand for any amount of text.
  let hasAlias = false;
  visit(only, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (hasAlias) throw fault('has aliases, which are not supported');
  try {
    return withNumbers(only.toJS({ maxAliasCount: 0 }));
  } catch (error) {
    if (error instanceof RangeError) throw fault(`nests deeper than ${mostNesting} levels`);
    throw error;
  }
};

/** JSON is read by its own parser, which is a hundred times faster. What it cannot read may still be YAML. */
const parse = (text: string): unknown => {
  if (/^\s*\{/.test(text)) {
    if (nestsDeeperThan(text, mostNesting)) throw fault(`nests deeper than ${mostNesting} levels`);
    try {
      return parseJson(text);
    } catch {
      // A flow mapping of YAML begins like JSON.
    }
  }
  return parseYaml(text);
};

const versionFault = (version: unknown): Fault[] => {
  if (version === 1) return [];
  const message = version === undefined ? 'is required: 1' : 'must be 1';
  return [{ path: 'document.version', message }];
};

/**
 * Reads a document, an object or text of YAML or JSON. Throws 422 for one that cannot be read, and returns the faults of
 * its outer shape; what is inside its lists is not checked yet.
 */
export const readDocument = (given: unknown): { document: WorkspaceDocument; faults: Fault[] } => {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  if (Buffer.byteLength(text) > mostBytes) throw fault('must have at most 5 MB');
  const document = typeof given === 'string' ? parse(given) : given;
  if (!isObject(document)) throw fault('must be an object, or text of YAML or JSON that is one');
  const stored = storageFaults(document).map(({ path, message }) => ({ path: `document.${path}`, message }));
  if (stored.length > 0) throw unprocessable(stored);
  const unknown = Object.keys(document)
    .filter((key) => !(documentKeys as readonly string[]).includes(key))
    .map((key) => ({ path: `document.${key}`, message: 'is not a part of a workspace document' }));
  return { document, faults: [...versionFault(document.version), ...unknown] };
};

/** Characters that only text in double quotes keeps. */
const special = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/;

/** The document as YAML. The same document gives the same bytes. */
export const toYaml = (document: object): string => {
  const yaml = new YamlDocument(document, { version: '1.2', schema: 'core', aliasDuplicateObjects: false });
  visit(yaml, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && special.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return yaml.toString({ lineWidth: 0 });
};
