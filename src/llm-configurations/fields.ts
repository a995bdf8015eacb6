import { z } from 'zod';
import { headerMap, optional, text } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { defaultLimits, type LlmKind, openAiApis, reasoningEfforts } from './kinds.ts';

/** The address of an endpoint: http or https, without credentials, query or fragment. */
const baseUrl = text(2_000, 1)
  .superRefine((value, context) => {
    const message = urlFault(value) ?? (/[?#]/.test(value) ? 'must not have a query or fragment' : null);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: 2_000 } });

const visible = (max: number) =>
  text(max, 1).refine((value) => /^[\x21-\x7e]+$/.test(value), 'must consist of visible ASCII characters');

const apiKey = visible(10_000).describe('Never returned.');

/** `taken` are the headers that the requests of the kind have already. */
const headers = (...taken: string[]) =>
  headerMap(['accept-encoding', 'user-agent', ...taken], 20).describe(
    'Additional headers. Their values are never returned.',
  );

const api = z
  .enum(openAiApis)
  .describe('The protocol. `chat_completions` is for models and proxies that do not have `responses`.');

const limits = {
  max_output_tokens: z.int().min(1).max(1_000_000).describe('The most tokens of one reply.'),
  temperature: z.number().min(0).max(2).describe('Left out for models that do not take it.'),
  reasoning_effort: z.enum(reasoningEfforts).describe('Left out for models that do not reason.'),
  context_tokens: z.int().min(1_000).max(10_000_000).describe('The tokens of one call, input and output.'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(600)
    .describe('The longest wait for the first token. Later the model may be silent for 60 s.'),
  streaming: z.boolean().describe('Whether replies are read as they are generated.'),
  prompt_caching: z.boolean().describe('Whether the provider is asked to cache the prompt.'),
};

/** The fields of each kind besides those that all kinds have. */
const kindFields = {
  openai_compatible: {
    required: {
      base_url: baseUrl.describe('The address without `/chat/completions`. It often ends in `/v1`.'),
    },
    optional: { api_key: apiKey.describe('Sent as a bearer token. Never returned.'), headers: headers() },
  },
  openai: {
    required: { api_key: apiKey },
    optional: {
      base_url: baseUrl,
      headers: headers('authorization', 'openai-organization', 'openai-project'),
      organization: visible(200),
      project: visible(200),
      api,
    },
  },
  anthropic: {
    required: { api_key: apiKey },
    optional: { base_url: baseUrl, headers: headers('x-api-key', 'anthropic-version') },
  },
  azure: {
    required: {
      api_key: apiKey,
      base_url: baseUrl.describe('`https://RESOURCE.openai.azure.com/openai`. `model` is the deployment.'),
    },
    optional: {
      headers: headers('api-key'),
      api_version: text(50, 1)
        .regex(/^[\w.-]+$/, 'must consist of letters, digits, dots and hyphens')
        .describe(
          'The `api-version` of the requests. Default: `v1`; with `deployment_urls`, which need a date, `2024-10-21`.',
        ),
      deployment_urls: z
        .boolean()
        .describe(
          'Whether addresses name the deployment (`/deployments/MODEL`) instead of `/v1`. They have chat completions only.',
        ),
      api,
    },
  },
  google: {
    required: { api_key: apiKey },
    optional: { base_url: baseUrl, headers: headers('x-goog-api-key') },
  },
  bedrock: {
    required: {
      region: text(64, 1).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be an AWS region, such as us-east-1'),
    },
    optional: {
      api_key: apiKey.describe('A Bedrock API key, instead of an access key. Never returned.'),
      access_key_id: text(128, 1).regex(/^\w+$/, 'must consist of letters, digits and underscores'),
      secret_access_key: apiKey,
      session_token: apiKey.describe('For temporary access keys. Never returned.'),
      base_url: baseUrl,
      headers: headers('authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'),
    },
  },
  // Nothing is sent, but the field is common to all kinds.
  mock: { required: {}, optional: { headers: headers() } },
} satisfies Record<LlmKind, { required: z.ZodRawShape; optional: z.ZodRawShape }>;

/** The defaults of settings that have one. */
export const defaults: Record<string, unknown> = {
  ...defaultLimits,
  api: 'responses',
  api_version: 'v1',
  deployment_urls: false,
};

/** Optional fields of a create: null is the same as leaving them out. */
const whenCreated = (shape: z.ZodRawShape, kind?: LlmKind): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [
      name,
      // Azure's depend on the addresses: azureAddress in kinds.ts.
      optional(field as z.ZodType, kind === 'azure' ? undefined : (defaults[name] ?? undefined)),
    ]),
  );

/** Optional fields of an update: null resets them. */
const whenUpdated = (shape: z.ZodRawShape): z.ZodRawShape =>
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, (field as z.ZodType).nullish()]));

/** The settings of a kind in the body of a create. */
export const createdSettings = (kind: LlmKind): z.ZodRawShape => ({
  ...kindFields[kind].required,
  ...whenCreated(kindFields[kind].optional, kind),
  ...whenCreated(limits),
});

/** The settings of a kind in the body of an update: what it does not name is ignored. */
export const updatedSettings = (kind: LlmKind): z.ZodRawShape => ({
  ...Object.fromEntries(
    Object.entries(kindFields[kind].required).map(([name, field]) => [name, (field as z.ZodType).optional()]),
  ),
  ...whenUpdated(kindFields[kind].optional),
  ...whenUpdated(limits),
});

/** The settings of all kinds in the body of an update. */
export const allUpdatedSettings: z.ZodRawShape = Object.assign(
  {},
  ...Object.values(kindFields).map(({ required, optional }) => whenUpdated({ ...required, ...optional })),
  whenUpdated(limits),
);
