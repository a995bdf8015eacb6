import { LRUCache } from 'lru-cache';
import { compileArgumentCheck, compileSchema, type SchemaCheck } from '../lib/json-schema.ts';
import type { ToolDefinition } from './definitions.ts';

/** Checks by the schemas of a tool, by the hash of its definition. */
interface Checks {
  args: SchemaCheck;
  /** Null if there is no output schema, or one that cannot be used. */
  output: SchemaCheck | null;
}

const cache = new LRUCache<string, Checks>({ max: 2_000 });

const outputCheck = ({ name, outputSchema: schema }: ToolDefinition): SchemaCheck | null => {
  if (schema === undefined) return null;
  try {
    return compileSchema(schema, `the result of the tool ${name}`);
  } catch {
    return null;
  }
};

/** The checks of a tool's arguments and results. They are compiled once. */
export const checksOf = (hash: string, definition: ToolDefinition): Checks => {
  let checks = cache.get(hash);
  if (!checks) {
    checks = {
      args: compileArgumentCheck(definition.inputSchema, `the arguments of the tool ${definition.name}`),
      output: outputCheck(definition),
    };
    cache.set(hash, checks);
  }
  return checks;
};
