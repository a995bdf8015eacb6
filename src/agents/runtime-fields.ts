import { z } from 'zod';
import { id, idList, jsonObject, text } from '../http/index.ts';
import { compileSchema } from '../lib/json-schema.ts';
import { roles } from '../lib/principal.ts';

/** The fields of an agent that say how the runtime runs it. */

const maxFallbacks = 3;
const maxToolPolicies = 500;
const maxResultSchemaKb = 32;

export const fallbackLlmIds = idList
  .refine((list) => list.length <= maxFallbacks, `must have at most ${maxFallbacks} items`)
  .transform((list) => [...new Set(list)])
  .describe('LLM configurations that take over, in this order, when a model cannot reply.');

export const toolPolicy = z
  .object({
    tool_server_id: id,
    tool: text(1_000, 1).describe('The name of the tool on its server.'),
    policy: z.enum(['allow', 'deny', 'require_approval']),
  })
  .meta({ id: 'ToolPolicy' });

export const toolPolicies = z
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

export const approvalRole = z
  .enum(roles)
  .describe(
    'The lowest role that may decide on its tool calls. Default: `builder` for a worker agent, `member` for a conversational one.',
  );

/** Why the schema cannot be used, null if it can: it compiles, describes an object and refers to no other document. */
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

export const resultSchema = jsonObject
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
export type BuiltInToolName = (typeof builtInToolNames)[number];

const builtInTools = z
  .array(z.enum(builtInToolNames))
  .describe('The tools of the platform that the agent has. Default: all. An empty list: none.');

export const runtimeSettings = {
  builtin_tools: builtInTools,
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .describe(
      'How many input and output tokens a Work Item may use in all attempts since it was created, continued or restarted; null: no limit.',
    ),
  max_output_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe('How many tokens one reply may have; null: what the LLM configuration says.'),
  tool_concurrency: z.int().min(1).max(16).describe('How many tool calls of one step may run at once.'),
  approver_not_requester: z
    .boolean()
    .describe(
      'The person who asked for the work may not approve its tool calls: another person has to. A key counts as the person to whom it belongs. What a schedule started was asked for by no one.',
    ),
};
