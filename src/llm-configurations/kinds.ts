import { text } from '../http/index.ts';
import { Secret } from '../lib/crypto.ts';
import { azureAddress, azureFault, azureFields } from './azure.ts';
import { bedrockCredentials, bedrockFault, bedrockFields, bedrockUrl } from './bedrock.ts';
import { api, apiKey, baseUrl, headers, type LlmLimits, limits, visible } from './fields.ts';
import { type AnyKind, kind, type ResolvedOfKind, type SettingsOfKind } from './kind.ts';

/**
 * The kinds of LLM configurations, each written once: the settings in bodies, in rows and in responses follow from it, and
 * the form of the application. A new one also needs a model in the runtime.
 */
const kinds = {
  openai_compatible: kind({
    schema: 'CreateOpenAiCompatibleLlm',
    required: {
      base_url: baseUrl.describe('The address without `/chat/completions`. It often ends in `/v1`.'),
    },
    optional: { api_key: apiKey.describe('Sent as a bearer token. Never returned.'), headers: headers() },
    baseUrl: ({ base_url }) => base_url,
    resolve: ({ api_key }) => ({ apiKey: api_key === undefined ? null : new Secret(api_key) }),
  }),
  openai: kind({
    schema: 'CreateOpenAiLlm',
    required: { api_key: apiKey },
    optional: {
      base_url: baseUrl,
      headers: headers('authorization', 'openai-organization', 'openai-project'),
      organization: visible(200),
      project: visible(200),
      api,
    },
    defaults: { api: 'responses' },
    baseUrl: ({ base_url }) => base_url ?? 'https://api.openai.com/v1',
    resolve: ({ api_key, api: protocol = 'responses', organization = null, project = null }) => ({
      apiKey: new Secret(api_key),
      api: protocol,
      organization,
      project,
    }),
  }),
  anthropic: kind({
    schema: 'CreateAnthropicLlm',
    required: { api_key: apiKey },
    optional: { base_url: baseUrl, headers: headers('x-api-key', 'anthropic-version') },
    baseUrl: ({ base_url }) => base_url ?? 'https://api.anthropic.com/v1',
    resolve: ({ api_key }) => ({ apiKey: new Secret(api_key) }),
  }),
  azure: kind({
    schema: 'CreateAzureLlm',
    required: {
      api_key: apiKey,
      base_url: baseUrl.describe('`https://RESOURCE.openai.azure.com/openai`. `model` is the deployment.'),
    },
    optional: { headers: headers('api-key'), ...azureFields },
    baseUrl: ({ base_url }) => base_url,
    resolve: (settings) => ({ apiKey: new Secret(settings.api_key), ...azureAddress(settings) }),
    fault: azureFault,
  }),
  google: kind({
    schema: 'CreateGoogleLlm',
    required: { api_key: apiKey },
    optional: { base_url: baseUrl, headers: headers('x-goog-api-key') },
    baseUrl: ({ base_url }) => base_url ?? 'https://generativelanguage.googleapis.com/v1beta',
    resolve: ({ api_key }) => ({ apiKey: new Secret(api_key) }),
  }),
  bedrock: kind({
    schema: 'CreateBedrockLlm',
    required: {
      region: text(64, 1).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be an AWS region, such as us-east-1'),
    },
    optional: {
      ...bedrockFields,
      base_url: baseUrl,
      headers: headers('authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'),
    },
    baseUrl: ({ base_url, region }) => base_url ?? bedrockUrl(region),
    resolve: (settings) => ({ region: settings.region, credentials: bedrockCredentials(settings) }),
    fault: bedrockFault,
  }),
  // Nothing is sent, but headers are common to all kinds.
  mock: kind({
    schema: 'CreateMockLlm',
    required: {},
    optional: { headers: headers() },
    model: 'mock',
    baseUrl: () => null,
    resolve: () => ({}),
  }),
};

type Kinds = typeof kinds;
export type LlmKind = keyof Kinds;
export const llmKinds = Object.keys(kinds) as LlmKind[];

export const kindOf = (name: LlmKind): AnyKind => kinds[name];

/** Settings as they are stored: what has its default may be absent. */
export type LlmSettings = Partial<LlmLimits> &
  {
    [K in LlmKind]: { kind: K; headers?: Record<string, string> } & SettingsOfKind<Kinds[K]>;
  }[LlmKind];

interface ResolvedEndpoint {
  /** Without a slash at its end. */
  base_url: string;
  headers: Record<string, Secret>;
}

/** A configuration as the agent runtime uses it, with its secrets and defaults. */
export type ResolvedLlm = { id: string; model: string } & LlmLimits &
  {
    [K in LlmKind]: { kind: K } & (K extends 'mock' ? unknown : ResolvedEndpoint & ResolvedOfKind<Kinds[K]>);
  }[LlmKind];

/** The settings that are never returned. A response says whether there are any. */
export const secretFields = ['api_key', 'secret_access_key', 'session_token', 'headers'] as const;
type SecretField = (typeof secretFields)[number];
const isSecret = (name: string): name is SecretField => secretFields.some((field) => field === name);

/** The settings of all kinds, by their names. */
export const settingSchemas = Object.assign(
  {},
  ...llmKinds.map((name) => ({ ...kindOf(name).required, ...kindOf(name).optional })),
) as AnyKind['required'];

/** The settings that are returned, and audited as they are. */
export const plainFields = Object.keys(settingSchemas).filter((name) => !isSecret(name));

/** Values that a workspace document leaves out: Azure's depend on the addresses, and these are the usual ones. */
export const defaults: Record<string, unknown> = {
  ...Object.fromEntries(Object.entries(limits).map(([name, { fallback }]) => [name, fallback])),
  api: 'responses',
  api_version: 'v1',
  deployment_urls: false,
};

/** The address that requests go to; null for the mock. */
export const effectiveBaseUrl = (settings: LlmSettings): string | null =>
  kindOf(settings.kind).baseUrl(settings);
