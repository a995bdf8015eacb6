import { z } from 'zod';
import { checkedLater, id, optional, pageOf, text, timestamp, validate } from '../http/index.ts';
import { allUpdatedSettings, createdSettings, updatedSettings } from './fields.ts';
import { azureFault, type LlmKind, llmKinds, openAiApis, reasoningEfforts } from './kinds.ts';
import type { NewLlm, SettingChanges } from './llm-configurations.ts';

const name = text(200, 1);
const model = text(500, 1).describe('The name of the model, as its endpoint knows it.');

const createOf = <K extends LlmKind>(kind: K, id: string) =>
  z
    .object({
      kind: z.literal(kind),
      name,
      model: kind === 'mock' ? optional(model, 'mock') : model,
      ...createdSettings(kind),
    })
    .meta({ id });

const createBedrock = createOf('bedrock', 'CreateBedrockLlm').superRefine((body, context) => {
  const fault = bedrockFault(body);
  if (!fault) return;
  const params = { missing: 'is required, or access_key_id with secret_access_key' };
  context.addIssue({ code: 'custom', path: [fault.path], message: fault.message, params });
});

/**
 * Returns what is wrong with Bedrock credentials, or null: they are an API key, or an access key with its secret. The
 * path of the fault is a field that is present, unless all are missing.
 */
export const bedrockFault = (given: object): { path: string; message: string } | null => {
  const fields = given as Record<string, unknown>;
  const has = (field: string) => fields[field] !== undefined && fields[field] !== null;
  const message = 'use either api_key, or access_key_id with secret_access_key';
  if (has('api_key')) {
    const other = ['access_key_id', 'secret_access_key', 'session_token'].find(has);
    return other === undefined ? null : { path: other, message: `${message}, not both` };
  }
  if (has('access_key_id') && has('secret_access_key')) return null;
  const half = ['access_key_id', 'secret_access_key', 'session_token'].find(has);
  return { path: half ?? 'api_key', message };
};

const createAzure = createOf('azure', 'CreateAzureLlm').superRefine((body, context) => {
  const fault = azureFault(body);
  if (fault) context.addIssue({ code: 'custom', path: [fault.path], message: fault.message });
});

const notAKind = `is not a kind of LLM configuration; the kinds are: ${llmKinds.join(', ')}`;

const createUnion = z
  .discriminatedUnion(
    'kind',
    [
      createOf('openai_compatible', 'CreateOpenAiCompatibleLlm'),
      createOf('openai', 'CreateOpenAiLlm'),
      createOf('anthropic', 'CreateAnthropicLlm'),
      createAzure,
      createOf('google', 'CreateGoogleLlm'),
      createBedrock,
      createOf('mock', 'CreateMockLlm'),
    ],
    { error: (issue) => (issue.code === 'invalid_union' ? notAKind : undefined) },
  )
  .meta({ id: 'CreateLlmConfigurationBody' });

/** The shapes are made from tables, which types cannot follow. */
export const createBody = createUnion as unknown as z.ZodType<NewLlm>;

export const updateBody = z
  .object({
    kind: z.string().optional().describe('Cannot be changed: create another configuration instead.'),
    name: name.optional(),
    model: model.optional(),
    ...Object.fromEntries(
      Object.entries(allUpdatedSettings).map(([field, schema]) => [field, checkedLater(schema as z.ZodType)]),
    ),
  })
  .meta({ id: 'UpdateLlmConfigurationBody' });

const updates = Object.fromEntries(
  llmKinds.map((kind) => [kind, z.object(updatedSettings(kind))]),
) as unknown as Record<LlmKind, z.ZodType<SettingChanges>>;

/** Returns the settings of `kind` in the body of an update. Throws 422 for wrong ones; those of other kinds are ignored. */
export const readChanges = (kind: LlmKind, body: object): SettingChanges =>
  validate(updates[kind], body, 'body');

const adminsOnly = (what: string) => `${what} Admins only.`.trim();
const shown = <S extends z.ZodType>(schema: S, what = '') =>
  schema.nullable().optional().describe(adminsOnly(what));
const flag = (what: string) => z.boolean().optional().describe(adminsOnly(what));

export const llmConfiguration = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(llmKinds),
    model: z.string(),
    base_url: shown(z.string(), 'The address that requests go to; null for a mock.'),
    organization: shown(z.string()),
    project: shown(z.string()),
    api: shown(z.enum(openAiApis)),
    api_version: shown(z.string()),
    deployment_urls: shown(z.boolean()),
    region: shown(z.string()),
    access_key_id: shown(z.string()),
    api_key_set: flag('Whether there is an API key.'),
    secret_access_key_set: flag('Whether there is a secret access key.'),
    session_token_set: flag('Whether there is a session token.'),
    header_names: z.array(z.string()).optional().describe(adminsOnly('The names of the headers.')),
    max_output_tokens: shown(z.int()),
    temperature: shown(z.number()),
    reasoning_effort: shown(z.enum(reasoningEfforts)),
    context_tokens: z.int().optional().describe(adminsOnly('')),
    timeout_seconds: z.int().optional().describe(adminsOnly('')),
    streaming: flag(''),
    prompt_caching: flag(''),
    created_at: timestamp.optional().describe('Admins only.'),
    updated_at: timestamp.optional().describe('Admins only.'),
  })
  .meta({ id: 'LlmConfiguration' });

export const usedLlm = llmConfiguration
  .extend({
    is_default: z.boolean().describe('Whether agents without `llm_id` use it.'),
    used_by: z
      .object({
        total: z.int().describe('How many agents name it, as their model or as one that takes over.'),
        agents: z.array(z.object({ id, name: z.string() })).describe('The first 20 of them by name.'),
        by_default: z.int().describe('How many agents use it because they name none.'),
      })
      .meta({ id: 'LlmUses' }),
  })
  .meta({ id: 'UsedLlmConfiguration' });

export const usedLlmPage = pageOf('UsedLlmConfigurationPage', usedLlm);

export const llmPage = pageOf('LlmConfigurationPage', llmConfiguration);

export const testSteps = ['proxy', 'connect', 'answer', 'tool_call', 'stream'] as const;

export const llmTest = z
  .object({
    ok: z.boolean(),
    detail: z.string(),
    latency_ms: z.int().describe('The duration of the test, in milliseconds.'),
    steps: z
      .array(z.object({ step: z.enum(testSteps), ok: z.boolean(), detail: z.string() }))
      .describe('In order; the first that failed is the last.'),
  })
  .meta({ id: 'LlmTestResult' });

export const defaultsBody = z.object({ llm_id: id }).meta({ id: 'SetLlmDefaultsBody' });
export const llmDefaults = z
  .object({ llm_id: id.describe('The configuration that agents without `llm_id` use.') })
  .meta({ id: 'LlmDefaults' });
