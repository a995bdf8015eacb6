/** The kinds of LLM configurations: the protocols that the runtime speaks. */
export const llmKinds = [
  'openai_compatible',
  'openai',
  'anthropic',
  'azure',
  'google',
  'bedrock',
  'mock',
] as const;
export type LlmKind = (typeof llmKinds)[number];

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high'] as const;
type ReasoningEffort = (typeof reasoningEfforts)[number];

export const openAiApis = ['responses', 'chat_completions'] as const;
type OpenAiApi = (typeof openAiApis)[number];

/** How a model is called, whatever its kind. */
export interface LlmLimits {
  /** The most tokens of one reply; null: the provider's own limit. */
  max_output_tokens: number | null;
  temperature: number | null;
  reasoning_effort: ReasoningEffort | null;
  /** Tokens that the model can read and write in one call. */
  context_tokens: number;
  /** Seconds until the first token of a reply. */
  timeout_seconds: number;
  streaming: boolean;
  prompt_caching: boolean;
}

export const defaultLimits: LlmLimits = {
  max_output_tokens: null,
  temperature: null,
  reasoning_effort: null,
  context_tokens: 128_000,
  timeout_seconds: 120,
  streaming: true,
  prompt_caching: true,
};

interface Endpoint {
  base_url?: string;
  headers?: Record<string, string>;
}

/** Settings as they are stored: what has its default may be absent. */
export type LlmSettings = Partial<LlmLimits> &
  (
    | ({ kind: 'openai_compatible'; base_url: string; api_key?: string } & Endpoint)
    | ({
        kind: 'openai';
        api_key: string;
        organization?: string;
        project?: string;
        api?: OpenAiApi;
      } & Endpoint)
    | ({ kind: 'anthropic' | 'google'; api_key: string } & Endpoint)
    | ({
        kind: 'azure';
        base_url: string;
        api_key: string;
        api_version?: string;
        deployment_urls?: boolean;
        api?: OpenAiApi;
      } & Endpoint)
    | ({
        kind: 'bedrock';
        region: string;
        api_key?: string;
        access_key_id?: string;
        secret_access_key?: string;
        session_token?: string;
      } & Endpoint)
    | ({ kind: 'mock' } & Omit<Endpoint, 'base_url'>)
  );

/** The settings that are never returned. */
export const secretFields = ['api_key', 'secret_access_key', 'session_token', 'headers'] as const;

/** The settings that are returned, and audited as they are. */
export const plainFields = [
  'base_url',
  'organization',
  'project',
  'api',
  'api_version',
  'deployment_urls',
  'region',
  'access_key_id',
] as const;

/** The version that addresses by deployment have if the configuration names none. */
const deploymentVersion = '2024-10-21';

type Azure = LlmSettings & { kind: 'azure' };

/** The protocol and the version of Azure's addresses. Those by deployment have chat completions and dated versions only. */
export const azureAddress = ({
  deployment_urls = false,
  api = deployment_urls ? 'chat_completions' : 'responses',
  api_version = deployment_urls ? deploymentVersion : 'v1',
}: Azure): Required<Pick<Azure, 'api' | 'api_version' | 'deployment_urls'>> => ({
  api,
  api_version,
  deployment_urls,
});

/** `settings` without what was stored before `azureFault` was checked: the defaults of the other addresses. */
export const repairedAzure = (settings: LlmSettings): LlmSettings => {
  if (settings.kind !== 'azure' || !azureFault(settings)) return settings;
  const { api, api_version, ...others } = settings;
  return { ...others, ...(datedVersion.test(api_version ?? '') ? { api_version: api_version! } : {}) };
};

const datedVersion = /^\d{4}-\d{2}-\d{2}/;

/** What of Azure's settings does not fit together; null if they do. */
export const azureFault = (settings: object): { path: string; message: string } | null => {
  const { api, api_version, deployment_urls } = settings as Record<string, unknown>;
  if (deployment_urls !== true) return null;
  if (api != null && api !== 'chat_completions') {
    return {
      path: 'api',
      message: 'must be chat_completions with deployment_urls: addresses by deployment have no responses',
    };
  }
  if (api_version == null || datedVersion.test(String(api_version))) return null;
  return {
    path: 'api_version',
    message: `must be a date with deployment_urls, such as ${deploymentVersion}`,
  };
};

/** AWS regions whose addresses do not end in `amazonaws.com`, by the beginning of their names. */
const awsSuffixes: readonly (readonly [region: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eusc-', 'amazonaws.eu'],
];

const bedrockUrl = (region: string): string => {
  const suffix = awsSuffixes.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  return `https://bedrock-runtime.${region}.${suffix}`;
};

/** The address that requests go to; null for the mock. */
export const effectiveBaseUrl = (settings: LlmSettings): string | null => {
  switch (settings.kind) {
    case 'mock':
      return null;
    case 'openai_compatible':
    case 'azure':
      return settings.base_url;
    case 'openai':
      return settings.base_url ?? 'https://api.openai.com/v1';
    case 'anthropic':
      return settings.base_url ?? 'https://api.anthropic.com/v1';
    case 'google':
      return settings.base_url ?? 'https://generativelanguage.googleapis.com/v1beta';
    case 'bedrock':
      return settings.base_url ?? bedrockUrl(settings.region);
  }
};
