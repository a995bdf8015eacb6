import { sha256 } from '../lib/crypto.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { rfc8785 } from '../lib/rfc8785.ts';
import { characters, storageFaults } from '../lib/text.ts';

/** What a server says about a tool, in the names of the Model Context Protocol. */
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

/** The fields of `raw` that count. It is a tool of a list that the client has accepted as valid. */
export const definitionOf = (raw: ToolDefinition): ToolDefinition => {
  const { name, title, description, inputSchema, outputSchema, annotations } = raw;
  return withoutUndefined({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  } as ToolDefinition);
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

/** Whether the server says that a second equal call does no more than the first. */
export const idempotentHint = ({ annotations }: ToolDefinition): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
