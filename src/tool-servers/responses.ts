import type { ToolDefinition } from './definitions.ts';
import { effectivePolicy } from './policies.ts';
import type { OpenedToolServer } from './settings.ts';
import type { ToolServerRow } from './store.ts';
import type { ToolCounts, ToolRow } from './tool-store.ts';
import { effectiveIdempotent, stateOf, usedDefinition } from './tools.ts';

/** A tool server as the API shows it: of secrets only the names. */
export const toolServerResponse = ({ row, settings }: OpenedToolServer, counts: ToolCounts | undefined) => {
  const http = settings.transport === 'http' ? settings : undefined;
  const stdio = settings.transport === 'stdio' ? settings : undefined;
  const { oauth } = http ?? {};
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    transport: row.transport,
    url: http?.url ?? null,
    header_names: Object.keys(http?.headers ?? {}),
    oauth: oauth
      ? {
          client_id: oauth.client_id,
          client_secret_set: true,
          issuer: oauth.issuer,
          scope: oauth.scope ?? null,
        }
      : null,
    command: stdio?.command ?? null,
    args: stdio?.args ?? [],
    env_names: Object.keys(stdio?.env ?? {}),
    cwd: stdio?.cwd ?? null,
    enabled: row.enabled,
    default_policy: row.default_policy,
    call_timeout_seconds: row.call_timeout_seconds,
    max_concurrency: row.max_concurrency,
    allow_input: row.allow_input,
    protocol_version: row.protocol_version,
    state: row.state,
    last_success_at: row.last_success_at,
    last_error: row.last_error,
    warnings: row.warnings,
    tool_count: counts?.tool_count ?? 0,
    changed_count: counts?.changed_count ?? 0,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
};

const definitionResponse = (definition: ToolDefinition) => ({
  title: definition.title ?? null,
  description: definition.description ?? '',
  input_schema: definition.inputSchema,
  output_schema: definition.outputSchema ?? null,
  annotations: definition.annotations ?? null,
});

/** For each kind of LLM configuration whose models cannot get a tool with this schema, why. The runtime knows. */
export type SchemaWarnings = (inputSchema: Record<string, unknown>) => { kind: string; message: string }[];

/** A tool as the API shows it. */
export const toToolResponse = (server: ToolServerRow, tool: ToolRow, schemaWarnings: SchemaWarnings) => {
  const state = stateOf(tool);
  const definition = usedDefinition(tool);
  return {
    name: tool.name,
    tool_name: tool.tool_name,
    ...definitionResponse(definition),
    policy: tool.policy,
    effective_policy: effectivePolicy(server, tool),
    idempotent: tool.idempotent,
    effective_idempotent: effectiveIdempotent(tool),
    state,
    definition_hash: tool.definition_hash,
    accepted_hash: tool.accepted_hash,
    pending: state === 'changed' ? definitionResponse(tool.definition) : null,
    model_warnings: schemaWarnings(definition.inputSchema),
    first_seen_at: tool.first_seen_at,
    changed_at: tool.changed_at,
  };
};
