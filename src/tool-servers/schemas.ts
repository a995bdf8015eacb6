import { z } from 'zod';
import { headerMap, id, optional, pageOf, stepsOf, text, timestamp } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { defaultsOf, required } from '../resource/index.ts';
import { policies, toolServers } from './store.ts';
import { toolStates } from './tools.ts';

const maxHeaders = 20;
const maxVariables = 50;
const maxArgs = 50;

/** An http or https address without credentials and fragment. */
const address = (forbidden: RegExp, fault: string) =>
  text(2_000, 1)
    .superRefine((value, context) => {
      const message = urlFault(value) ?? (forbidden.test(value) ? fault : null);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .meta({ openapi: { type: 'string', format: 'uri', maxLength: 2_000 } });

const url = address(/#/, 'must not have a fragment').describe(
  'The address of the server. It often ends in `/mcp`.',
);
const issuer = address(/[?#]/, 'must not have a query or fragment').describe(
  'The authorization server. The secret is sent to no other.',
);

/** The client and our fetch set the listed headers themselves. */
const headers = headerMap([
  'accept',
  'accept-encoding',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'agent-platform-depth',
])
  .refine((map) => Object.keys(map).length <= maxHeaders, `must have at most ${maxHeaders} headers`)
  .meta({
    openapi: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: maxHeaders },
  })
  .describe('Additional headers. Their values are never returned.');

/** Text that a process can get: no NUL. */
const argument = text(8_192).refine((value) => !value.includes('\u0000'), 'must not contain NUL');

const env = z
  .custom<Record<string, string>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object of names and values',
  )
  .superRefine((map, context) => {
    const entries = Object.entries(map);
    if (entries.length > maxVariables) {
      context.addIssue({ code: 'custom', message: `must have at most ${maxVariables} variables` });
      return;
    }
    for (const [name, value] of entries) {
      const fault = !/^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
        ? 'is not the name of an environment variable'
        : argument.safeParse(value).error?.issues[0]?.message;
      if (fault !== undefined) context.addIssue({ code: 'custom', path: [name], message: fault });
    }
  })
  .meta({
    openapi: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: maxVariables },
  })
  .describe('Environment variables besides PATH and HOME. Their values are never returned.');

const visible = (max: number) =>
  text(max, 1).refine((value) => /^[\x20-\x7e]+$/.test(value), 'must consist of visible ASCII characters');
const client_id = visible(500);
const client_secret = visible(2_000).describe('Never returned.');
const scope = visible(2_000);

const command = text(4_096, 1)
  .refine((value) => !value.includes('\u0000'), 'must not contain NUL')
  .describe('A program, found by PATH, or its path.');
const args = z.array(argument).max(maxArgs, `must have at most ${maxArgs} arguments`);
const cwd = text(4_096, 1).describe('The working directory. Without it, an empty temporary folder.');

const policy = z.enum(policies);

const http = z
  .object({
    transport: z
      .literal('http')
      .nullish()
      .transform(() => 'http' as const),
    ...toolServers.create,
    url,
    headers: optional(headers),
    oauth: optional(z.object({ client_id, client_secret, issuer, scope: optional(scope) })).describe(
      'Client credentials (OAuth 2.0). Not next to a header Authorization.',
    ),
  })
  .meta({ id: 'CreateHttpToolServer' });

const stdio = z
  .object({
    transport: z.literal('stdio'),
    ...toolServers.create,
    command,
    args: optional(args, [] as string[]),
    env: optional(env),
    cwd: optional(cwd),
  })
  .meta({ id: 'CreateStdioToolServer' });

export const createBody = z
  .discriminatedUnion('transport', [http, stdio])
  .meta({ id: 'CreateToolServerBody' });

const { name: changedName, prefix: changedPrefix, ...changed } = toolServers.patch;

export const updateBody = z
  .object({
    name: changedName,
    prefix: changedPrefix,
    transport: z.enum(['http', 'stdio']).optional().describe('Cannot be changed.'),
    ...changed,
    url: url
      .nullable()
      .optional()
      .describe('Another url needs all secrets again, and its tools be accepted.'),
    headers: headers.nullable().optional().describe('Replaces all headers; null removes them.'),
    oauth: z
      .object({
        client_id: client_id.optional(),
        client_secret: client_secret.optional(),
        issuer: issuer.optional(),
        scope: scope.nullable().optional(),
      })
      .nullable()
      .optional()
      .describe('Merged key by key; null removes it. Another issuer needs the secret again.'),
    command: command
      .nullable()
      .optional()
      .describe('Another command needs all secrets again, and its tools be accepted.'),
    args: args.nullable().optional(),
    env: env.nullable().optional().describe('Replaces all variables; null removes them.'),
    cwd: cwd.nullable().optional(),
  })
  .meta({ id: 'UpdateToolServerBody' });

/** Tool servers in a workspace document. */
export const form = {
  fields: {
    name: toolServers.fields.name,
    prefix: toolServers.fields.prefix,
    transport: required(z.string()).fixed(),
  },
  body: createBody,
  patch: updateBody,
  defaults: { transport: 'http', ...defaultsOf(toolServers.fields), args: [], tools: {} },
  secrets: ['headers.*', 'env.*', 'oauth.client_secret'],
  address: ({ url, command, oauth }: Record<string, unknown>) => [
    url,
    command,
    (oauth as { issuer?: string } | undefined)?.issuer,
  ],
};

const { name, prefix, ...shown } = toolServers.shown;

export const toolServer = z
  .object({
    id,
    name,
    prefix,
    transport: z.enum(['http', 'stdio']),
    url: z.string().nullable().describe('null for stdio.'),
    header_names: z.array(z.string()),
    oauth: z
      .object({
        client_id: z.string(),
        client_secret_set: z.boolean(),
        issuer: z.string(),
        scope: z.string().nullable(),
      })
      .nullable(),
    command: z.string().nullable().describe('null for http.'),
    args: z.array(z.string()),
    env_names: z.array(z.string()),
    cwd: z.string().nullable(),
    ...shown,
    protocol_version: z.string().nullable(),
    state: z.enum(['unknown', 'ok', 'failing']).describe('The result of the last discovery.'),
    last_success_at: timestamp
      .nullable()
      .describe('When the tools were last discovered at the present address.'),
    last_error: z.string().nullable().describe('Why the last discovery failed; null if it succeeded.'),
    warnings: z
      .array(z.string())
      .describe('What the last successful discovery left out: tools that are not valid, by name.'),
    tool_count: z.int().describe('How many tools its last list had.'),
    changed_count: z.int().describe('How many of them changed since they were accepted.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ToolServer' });

export const toolServerPage = pageOf('ToolServerPage', toolServer);

export const usedToolServer = toolServer
  .extend({
    new_count: z.int().describe('How many of its tools no one has accepted yet.'),
    last_checked_at: timestamp
      .nullable()
      .describe(
        'When its tools were last asked for, by a test, a person or an attempt, with or without success.',
      ),
    used_by: z
      .object({
        total: z.int().describe('How many agents have it in `tool_server_ids`.'),
        agents: z.array(z.object({ id, name: z.string() })).describe('The first 20 of them by name.'),
      })
      .meta({ id: 'ToolServerUses' }),
  })
  .meta({ id: 'UsedToolServer' });

export const toolServerHost = z
  .object({
    name: z.string(),
    host: z.string().nullable().describe('Null: it is a process on the machine of the platform.'),
  })
  .meta({ id: 'ToolServerHost' });

export const usedToolServerPage = pageOf('UsedToolServerPage', usedToolServer);

const json = z
  .custom<Record<string, unknown>>(() => true)
  .meta({ openapi: { type: 'object', additionalProperties: true } });
const maybeJson = z
  .custom<Record<string, unknown> | null>(() => true)
  .meta({ openapi: { type: ['object', 'null'], additionalProperties: true } });
const definition = {
  title: z.string().nullable(),
  description: z.string(),
  input_schema: json,
  output_schema: maybeJson,
  annotations: maybeJson,
};

export const tool = z
  .object({
    name: z.string().describe('As the server calls it.'),
    tool_name: z.string().describe('As models call it.'),
    ...definition,
    policy: policy.nullable().describe('null: the default policy of the server.'),
    effective_policy: policy.describe('For agents that have no policy of their own for the tool.'),
    idempotent: z.boolean().nullable().describe('null: as the annotations say.'),
    effective_idempotent: z.boolean().describe('Whether a call without an answer is repeated.'),
    state: z.enum(toolStates).describe('Agents get only accepted tools.'),
    definition_hash: z
      .string()
      .describe('The SHA-256 of the canonical JSON (RFC 8785) of the present definition, in hex.'),
    accepted_hash: z.string().nullable(),
    pending: z
      .object(definition)
      .nullable()
      .describe('The present definition of a changed tool, while the fields above are the accepted one.'),
    model_warnings: z
      .array(
        z
          .object({
            kind: z.string().describe('The kind of LLM configurations whose models do not get the tool.'),
            message: z.string(),
          })
          .meta({ id: 'ToolModelWarning' }),
      )
      .describe(
        'Models that do not get the tool, because their endpoints would refuse every request with its schema. Other schemas are made fit for them.',
      ),
    first_seen_at: timestamp,
    changed_at: timestamp,
  })
  .meta({ id: 'Tool' });

export const toolPage = pageOf('ToolPage', tool);

export const updateToolBody = z
  .object({
    policy: policy.nullable().optional().describe('null: the default policy of the server.'),
    idempotent: z.boolean().nullable().optional().describe('null: as the annotations say.'),
  })
  .meta({ id: 'UpdateToolBody' });

export const acceptToolBody = z
  .object({ definition_hash: z.string().describe('That of the definition that you accept.') })
  .meta({ id: 'AcceptToolBody' });

const testSteps = ['resolve', 'proxy', 'connect', 'authenticate', 'negotiate', 'list_tools'] as const;

export const testResult = z
  .object({
    ok: z.boolean(),
    steps: stepsOf(testSteps),
    protocol_version: z.string().nullable(),
    latency_ms: z.int().describe('The duration of the test, in milliseconds.'),
  })
  .meta({ id: 'ToolServerTestResult' });
