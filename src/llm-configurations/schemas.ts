import { z } from 'zod';
import { checkedLater, id, optional, pageOf, timestamp, validate } from '../http/index.ts';
import { mapValues } from '../lib/objects.ts';
import { required } from '../resource/index.ts';
import { limits } from './fields.ts';
import {
  defaults,
  kindOf,
  type LlmKind,
  llmKinds,
  plainFields,
  secretFields,
  settingSchemas,
} from './kinds.ts';
import type { NewLlm, SettingChanges } from './llm-configurations.ts';
import { llms } from './store.ts';

/** Optional settings of an update: null resets them. */
const whenUpdated = (shape: z.ZodRawShape): z.ZodRawShape =>
  mapValues(shape, (field) => (field as z.ZodType).nullish());

const updatedLimits = whenUpdated(mapValues(limits, ({ schema }) => schema));

const createOf = (name: LlmKind) => {
  const { schema, required, optional: others, defaults = {}, model: fallback, fault } = kindOf(name);
  return z
    .object({
      kind: z.literal(name),
      name: llms.create.name,
      model: fallback === undefined ? llms.create.model : optional(llms.create.model, fallback),
      ...required,
      // Null is the same as leaving them out.
      ...mapValues(others, (field, key) => optional(field, (defaults as Record<string, unknown>)[key])),
      ...mapValues(limits, (field) =>
        optional<z.ZodType, unknown>(field.schema, field.fallback ?? undefined),
      ),
    })
    .meta({ id: schema })
    .superRefine((body, context) => {
      const wrong = fault?.(body);
      if (!wrong) return;
      const { path, message, missing } = wrong;
      context.addIssue({ code: 'custom', path: [path], message, params: { missing } });
    });
};

const notAKind = `is not a kind of LLM configuration; the kinds are: ${llmKinds.join(', ')}`;

const createUnion = z
  .discriminatedUnion('kind', llmKinds.map(createOf) as [ReturnType<typeof createOf>], {
    error: (issue) => (issue.code === 'invalid_union' ? notAKind : undefined),
  })
  .meta({ id: 'CreateLlmConfigurationBody' });

/** The shapes are made from tables, which types cannot follow. */
export const createBody = createUnion as unknown as z.ZodType<NewLlm>;

export const updateBody = z
  .object({
    kind: z.string().optional().describe('Cannot be changed: create another configuration instead.'),
    ...llms.patch,
    ...mapValues({ ...whenUpdated(settingSchemas), ...updatedLimits }, (schema) =>
      checkedLater(schema as z.ZodType),
    ),
  })
  .meta({ id: 'UpdateLlmConfigurationBody' });

/** LLM configurations in a workspace document. */
export const form = {
  fields: { name: llms.fields.name, kind: required(z.string()).fixed(), model: llms.fields.model },
  body: createBody,
  patch: updateBody,
  defaults,
  secrets: secretFields.map((name) => (name === 'headers' ? 'headers.*' : name)),
  address: ({ base_url, region }: Record<string, unknown>) => [base_url, region],
};

const updates = new Map(
  llmKinds.map((name) => {
    const { required, optional: others } = kindOf(name);
    const needed = mapValues(required, (field) => field.optional());
    return [name, z.object({ ...needed, ...whenUpdated(others), ...updatedLimits })] as const;
  }),
);

/** Returns the settings of `kind` in the body of an update. Throws 422 for wrong ones; those of other kinds are ignored. */
export const readChanges = (kind: LlmKind, body: object): SettingChanges =>
  validate(updates.get(kind)!, body, 'body');

const adminsOnly = (what: string) => `${what} Admins only.`.trim();
const shown = <S extends z.ZodType>(schema: S, what = '') =>
  schema.nullable().optional().describe(adminsOnly(what));
const flag = (what: string) => z.boolean().optional().describe(adminsOnly(what));

const shownSetting = (name: string) => {
  const schema = settingSchemas[name];
  const plain =
    schema instanceof z.ZodBoolean
      ? z.boolean()
      : schema instanceof z.ZodEnum
        ? z.enum(schema.enum)
        : z.string();
  const about = name === 'base_url' ? 'The address that requests go to; null for a mock.' : '';
  return shown(plain, about);
};

const secretNames = {
  api_key: 'an API key',
  secret_access_key: 'a secret access key',
  session_token: 'a session token',
} satisfies Record<Exclude<(typeof secretFields)[number], 'headers'>, string>;

export const llmConfiguration = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(llmKinds),
    model: z.string(),
    ...Object.fromEntries(plainFields.map((field) => [field, shownSetting(field)])),
    ...Object.fromEntries(
      Object.entries(secretNames).map(([field, what]) => [`${field}_set`, flag(`Whether there is ${what}.`)]),
    ),
    header_names: z.array(z.string()).optional().describe(adminsOnly('The names of the headers.')),
    max_output_tokens: shown(z.int()),
    temperature: shown(z.number()),
    reasoning_effort: shown(z.enum(limits.reasoning_effort.schema.options)),
    context_tokens: z.int().optional().describe(adminsOnly('')),
    timeout_seconds: z.int().optional().describe(adminsOnly('')),
    streaming: flag(''),
    prompt_caching: flag(''),
    price_as: shown(z.string(), 'The name whose price the calls have, before all others.'),
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
