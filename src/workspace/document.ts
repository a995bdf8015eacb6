import { type ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { isObject } from '../lib/objects.ts';
import { nestsDeeperThan, storageFaults } from '../lib/text.ts';
import { onThread } from '../lib/thread.ts';
import { mostNesting } from '../lib/yaml.ts';
import { type Parsed, parseYaml } from './yaml.ts';

/** A document of the workspace as text: YAML 1.2 or JSON. */

/** The lists and the other parts of a document, in the order in which an export writes them. */
export const documentKeys = [
  'version',
  'settings',
  'branding',
  'llm_configurations',
  'default_llm',
  'prices',
  'tool_servers',
  'data_connections',
  'event_connections',
  'semantic_data_models',
  'datasets',
  'agents',
  'budgets',
  'integrations',
  'alert_rules',
  'channels',
  'routes',
  'role_mappings',
  'document_intelligence',
] as const;

export type DocumentKey = (typeof documentKeys)[number];
export type WorkspaceDocument = Partial<Record<DocumentKey, unknown>>;

const mostBytes = 5 * 1_048_576;
/** Longer YAML is read on a thread of its own, in characters: 5 MB take up to 8 s. */
const longText = 262_144;

const fault = (message: string): ApiError => unprocessable([{ path: 'document', message }]);

const parseOnThread = (text: string): Promise<Parsed> =>
  onThread(new URL('./yaml-worker.ts', import.meta.url), text);

/** JSON is read by its own parser, which is a hundred times faster. What it cannot read may still be YAML. */
const parse = async (text: string): Promise<unknown> => {
  if (/^\s*\{/.test(text)) {
    if (nestsDeeperThan(text, mostNesting)) throw fault(`nests deeper than ${mostNesting} levels`);
    try {
      return parseJson(text);
    } catch {
      // A flow mapping of YAML begins like JSON.
    }
  }
  const parsed = await (text.length > longText ? parseOnThread(text) : parseYaml(text));
  if ('fault' in parsed) throw fault(parsed.fault);
  return parsed.value;
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
export const readDocument = async (
  given: unknown,
): Promise<{ document: WorkspaceDocument; faults: Fault[] }> => {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  if (Buffer.byteLength(text) > mostBytes) throw fault('must have at most 5 MB');
  const document = typeof given === 'string' ? await parse(given) : given;
  if (!isObject(document)) throw fault('must be an object, or text of YAML or JSON that is one');
  const stored = storageFaults(document).map(({ path, message }) => ({ path: `document.${path}`, message }));
  if (stored.length > 0) throw unprocessable(stored);
  const unknown = Object.keys(document)
    .filter((key) => !(documentKeys as readonly string[]).includes(key))
    .map((key) => ({ path: `document.${key}`, message: 'is not a part of a workspace document' }));
  return { document, faults: [...versionFault(document.version), ...unknown] };
};
