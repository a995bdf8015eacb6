import { z } from 'zod';
import { changedCallbacks, newCallbacks, publicCallback } from '../callbacks/index.ts';
import { id, idList, jsonObject, optional, text } from '../http/index.ts';
import { compileSchema } from '../lib/json-schema.ts';
import { roles } from '../lib/principal.ts';
import { elsewhere, Group, nullable, required, withDefault } from '../resource/index.ts';
import { gateField } from './gate.ts';

/** The fields of an agent, each written once. */

const maxFallbacks = 3;
const maxToolPolicies = 500;
const maxResultSchemaKb = 32;

const fallbackLlmIds = idList
  .refine((list) => list.length <= maxFallbacks, `must have at most ${maxFallbacks} items`)
  .transform((list) => [...new Set(list)])
  .describe('LLM configurations that take over, in this order, when a model cannot reply.');

const toolPolicy = z
  .object({
    tool_server_id: id,
    tool: text(1_000, 1).describe('The name of the tool on its server.'),
    policy: z.enum(['allow', 'deny', 'require_approval']),
  })
  .meta({ id: 'ToolPolicy' });

const toolPolicies = z
  .array(toolPolicy)
  .max(maxToolPolicies)
  .transform((list) =>
    list.map((policy) => ({ ...policy, tool_server_id: policy.tool_server_id.toLowerCase() })),
  )
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [i, { tool_server_id, tool }] of list.entries()) {
      const key = `${tool_server_id} ${tool}`;
      if (seen.has(key)) {
        context.addIssue({ code: 'custom', path: [i], message: 'is a second policy for the same tool' });
      }
      seen.add(key);
    }
  })
  .describe("Policies of single tools for this agent. A tool's own `deny` is absolute.");

const approvalRole = z
  .enum(roles)
  .describe(
    'The lowest role that may decide on its tool calls. Default: `builder` for a worker agent, `member` for a conversational one.',
  );

const approvalTimeoutSeconds = z
  .int()
  .min(60)
  .max(31_536_000)
  .describe(
    'How many seconds people have to decide what its runs ask, or to reply; null: as long as they need. It counts for reviews that open from then on, and never for calls of unknown outcome.',
  );

const approvalTimeoutOutcome = z
  .enum(['deny', 'cancel', 'escalate'])
  .describe(
    'What happens if no one decides in time. `deny`: the calls are not made, and the run goes on. `cancel`: the Work Item or run is cancelled. `escalate`: it goes on waiting, and people are notified again.',
  );

/**
 * Returns why the schema cannot be used. Null if it can: it compiles, describes an object and refers to no other
 * document.
 */
const schemaFault = (schema: Record<string, unknown>): string | null => {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > maxResultSchemaKb * 1_024) return `must have at most ${maxResultSchemaKb} KB as JSON`;
  if (schema.type !== undefined && schema.type !== 'object') return 'must have the type `object`';
  try {
    compileSchema(schema);
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `is not a JSON Schema (2020-12) that can be used without fetching others: ${reason}`;
  }
};

const resultSchema = jsonObject
  .superRefine((schema, context) => {
    const fault = schemaFault(schema);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .describe(
    'JSON Schema (2020-12) of an object: the result that each Work Item must have. Worker agents only.',
  );

/** The tools of the platform, by name. */
export const builtInToolNames = [
  'current_time',
  'extract_from_file',
  'list_data_frames',
  'list_files',
  'make_data_frame',
  'query_data_frames',
  'read_file',
  'request_review',
] as const;
type BuiltInToolName = (typeof builtInToolNames)[number];

const builtInTools = z
  .array(z.enum(builtInToolNames))
  .describe('The tools of the platform that the agent has. Default: all. An empty list: none.');

/** A set: an id that is given twice is stored once. */
const ids = idList.transform((list) => [...new Set(list)]);

const mode = z.enum(['worker', 'conversational']);

const execution = z
  .enum(['platform', 'external'])
  .describe(
    'Who executes its Work Items: the platform, or external workers that claim them. Worker agents only.',
  );

const callbacks = {
  create: optional(newCallbacks, []).describe('Who is notified of each of its Work Items.'),
  patch: changedCallbacks
    .optional()
    .describe('Replaces all. What was recorded for those before is still delivered to them.'),
  shown: z.array(publicCallback).describe('Who is notified of each of its Work Items.'),
  fallback: [],
};

const settings = new Group({
  max_concurrency: withDefault(
    z.int().min(1).max(1_000).describe('How many Work Items of the agent may execute at once.'),
    4,
  ),
  max_attempts: withDefault(z.int().min(1).max(100).describe('How many attempts one Work Item has.'), 3),
  timeout_seconds: withDefault(
    z.int().min(1).max(86_400).describe('How many seconds one attempt may take.'),
    600,
  ),
  max_steps: withDefault(
    z.int().min(1).max(1_000).describe('How many model calls one attempt may make.'),
    20,
  ),
  max_tokens: withDefault(
    z
      .int()
      .min(1)
      .max(1_000_000_000)
      .nullable()
      .describe(
        'How many input and output tokens a Work Item may use in all attempts since it was created, continued or restarted; null: no limit.',
      ),
    null,
  ),
  max_output_tokens: withDefault(
    z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .describe('How many tokens one reply may have; null: what the LLM configuration says.'),
    null,
  ),
  tool_concurrency: withDefault(
    z.int().min(1).max(16).describe('How many tool calls of one step may run at once.'),
    4,
  ),
  approver_not_requester: withDefault(
    z
      .boolean()
      .describe(
        'The person who asked for the work may not approve its tool calls: another person has to. A key counts as the person to whom it belongs. What a schedule started was asked for by no one.',
      ),
    false,
  ),
  builtin_tools: withDefault(builtInTools, [...builtInToolNames]).stored({
    // Null is all, those of later releases among them.
    write: (tools) => (builtInToolNames.every((name) => tools.includes(name)) ? null : [...new Set(tools)]),
    read: (tools: BuiltInToolName[] | null) => tools ?? [...builtInToolNames],
  }),
});

const release = z
  .enum(['automatic', 'manual'])
  .describe(
    '`automatic`: a change of its content is published at once. `manual`: a change is a draft until it is published.',
  );

export const fields = {
  name: required(text(200, 1)),
  description: nullable(text(10_000)),
  mode: required(mode).fixed('Cannot be changed. Another mode than the current one is refused.'),
  instructions: withDefault(text(100_000), ''),
  llm_id: nullable(id).refersTo('llm_configuration', 'llm'),
  model: nullable(text(200, 1)),
  fallback_llm_ids: withDefault(fallbackLlmIds, [])
    .shownAs(z.array(id))
    .refersTo('llm_configuration', 'fallback_llms'),
  tool_server_ids: withDefault(ids, [])
    .shownAs(z.array(id))
    .refersTo('tool_server', 'tool_servers', { isSet: true }),
  tool_policies: withDefault(toolPolicies, [])
    .shownAs(z.array(toolPolicy))
    .json()
    .refersTo('tool_server', 'tool_policies', {
      isSet: true,
      inside: { id: 'tool_server_id', name: 'tool_server' },
    }),
  semantic_data_model_ids: withDefault(ids, [])
    .shownAs(z.array(id))
    .refersTo('semantic_data_model', 'semantic_data_models', { isSet: true }),
  execution: withDefault(execution, 'platform'),
  result_schema: nullable(resultSchema)
    .shownAs(jsonObject.nullable().describe('JSON Schema of the results of its Work Items.'))
    .json(),
  approval_role: nullable(approvalRole).shownAs(approvalRole).patchedAs('null resets it to its default.'),
  approval_timeout_seconds: nullable(approvalTimeoutSeconds),
  approval_timeout_outcome: withDefault(approvalTimeoutOutcome, 'deny'),
  release: withDefault(release, 'automatic'),
  gate: gateField,
  callbacks: elsewhere(callbacks),
  settings,
};
