import { sha256 } from '../lib/crypto.ts';
import { isObject, withoutUndefined } from '../lib/objects.ts';
import { rfc8785 } from '../lib/rfc8785.ts';
import { characters, storageFaults } from '../lib/text.ts';

/** Definition of a tool by its server, in the names of the Model Context Protocol. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

const maxName = 256;
const maxDefinitionBytes = 256 * 1024;

/** The SHA-256 of the definition's canonical JSON (RFC 8785), in hex: another hash is another tool to trust. */
export const definitionHash = (definition: ToolDefinition): string => sha256(rfc8785(definition));

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Returns the reason why `raw` is not a tool of the protocol, whatever its revision; null if it is one. */
const protocolFault = ({ name, title, description, inputSchema, ...more }: Record<string, unknown>) => {
  if (typeof name !== 'string') return 'it has no name';
  for (const [field, value] of Object.entries({ title, description })) {
    if (!isMissing(value) && typeof value !== 'string') return `its ${field} is not a text`;
  }
  if (isMissing(inputSchema)) return 'its inputSchema is missing';
  if (!isObject(inputSchema)) return 'its inputSchema is not an object';
  if (inputSchema.type !== 'object') return 'the type of its inputSchema is not "object"';
  for (const field of ['outputSchema', 'annotations'] as const) {
    if (!isMissing(more[field]) && !isObject(more[field])) return `its ${field} is not an object`;
  }
  return null;
};

/** The fields of `raw`, which a server lists, that count; or why it is not a tool. */
export const definitionOf = (raw: unknown): ToolDefinition | { fault: string } => {
  if (!isObject(raw)) return { fault: 'it is not an object' };
  const fault = protocolFault(raw);
  if (fault !== null) return { fault };
  const { name, title, description, inputSchema, outputSchema, annotations } = Object.fromEntries(
    Object.entries(raw).map(([field, value]) => [field, value ?? undefined]),
  );
  return withoutUndefined({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  } as unknown as ToolDefinition);
};

/** Returns why the tool cannot be offered; null if it can. */
export const definitionFault = (definition: ToolDefinition): string | null => {
  if (definition.name === '' || characters(definition.name) > maxName) {
    return `its name must have 1 to ${maxName} characters`;
  }
  if (storageFaults(definition).length > 0) return 'it has text that cannot be stored';
  if (Buffer.byteLength(JSON.stringify(definition)) > maxDefinitionBytes) {
    return `its definition has more than ${maxDefinitionBytes / 1024} KB`;
  }
  return null;
};

/** Returns whether the server says that a second equal call does no more than the first. */
export const idempotentHint = ({ annotations }: ToolDefinition): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
