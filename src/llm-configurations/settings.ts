import { Secret, type Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import {
  azureAddress,
  defaultLimits,
  effectiveBaseUrl,
  type LlmLimits,
  type LlmSettings,
  plainFields,
  repairedAzure,
} from './kinds.ts';
import type { LlmRow } from './store.ts';

interface ResolvedEndpoint {
  /** Without a slash at its end. */
  base_url: string;
  headers: Record<string, Secret>;
}

interface ResolvedOpenAi {
  apiKey: Secret;
  api: 'responses' | 'chat_completions';
}

/** A configuration as the agent runtime uses it, with its secrets and defaults. */
export type ResolvedLlm = { id: string; model: string } & LlmLimits &
  (
    | ({ kind: 'openai_compatible'; apiKey: Secret | null } & ResolvedEndpoint)
    | ({ kind: 'openai'; organization: string | null; project: string | null } & ResolvedOpenAi &
        ResolvedEndpoint)
    | ({ kind: 'azure'; api_version: string; deployment_urls: boolean } & ResolvedOpenAi & ResolvedEndpoint)
    | ({ kind: 'anthropic'; apiKey: Secret } & ResolvedEndpoint)
    | ({ kind: 'google'; apiKey: Secret } & ResolvedEndpoint)
    | ({ kind: 'bedrock'; region: string; credentials: BedrockCredentials } & ResolvedEndpoint)
    | { kind: 'mock' }
  );

/** A Bedrock API key, or the keys that sign a request (AWS Signature Version 4). */
type BedrockCredentials =
  | { apiKey: Secret }
  | { accessKeyId: string; secretAccessKey: Secret; sessionToken: Secret | null };

const table = 'llm_configurations';

/** The columns of the release before. Rows that it wrote last have their settings there. */
const legacyColumns = (['api_key', 'headers'] as const).map((column) => ({
  table,
  column,
  boundTo: (id: string) => `${table}:${id}:${column}`,
}));

/** The limits of a configuration, with their defaults. */
export const limitsOf = (settings: Partial<LlmLimits>): LlmLimits => ({
  max_output_tokens: settings.max_output_tokens ?? defaultLimits.max_output_tokens,
  temperature: settings.temperature ?? defaultLimits.temperature,
  reasoning_effort: settings.reasoning_effort ?? defaultLimits.reasoning_effort,
  context_tokens: settings.context_tokens ?? defaultLimits.context_tokens,
  timeout_seconds: settings.timeout_seconds ?? defaultLimits.timeout_seconds,
  streaming: settings.streaming ?? defaultLimits.streaming,
  prompt_caching: settings.prompt_caching ?? defaultLimits.prompt_caching,
});

const secretOrNull = (value: string | undefined): Secret | null =>
  value === undefined ? null : new Secret(value);

const bedrockCredentials = (settings: LlmSettings & { kind: 'bedrock' }): BedrockCredentials => {
  if (settings.api_key !== undefined) return { apiKey: new Secret(settings.api_key) };
  return {
    accessKeyId: settings.access_key_id!,
    secretAccessKey: new Secret(settings.secret_access_key!),
    sessionToken: secretOrNull(settings.session_token),
  };
};

const resolveSettings = (id: string, model: string, settings: LlmSettings): ResolvedLlm => {
  const shared = { id, model, ...limitsOf(settings) };
  if (settings.kind === 'mock') return { ...shared, kind: 'mock' };
  const endpoint = {
    ...shared,
    base_url: effectiveBaseUrl(settings)!.replace(/\/+$/, ''),
    headers: Object.fromEntries(
      Object.entries(settings.headers ?? {}).map(([name, value]) => [name, new Secret(value)]),
    ),
  };
  switch (settings.kind) {
    case 'openai_compatible':
      return { ...endpoint, kind: settings.kind, apiKey: secretOrNull(settings.api_key) };
    case 'anthropic':
    case 'google':
      return { ...endpoint, kind: settings.kind, apiKey: new Secret(settings.api_key) };
    case 'openai':
      return {
        ...endpoint,
        kind: settings.kind,
        apiKey: new Secret(settings.api_key),
        api: settings.api ?? 'responses',
        organization: settings.organization ?? null,
        project: settings.project ?? null,
      };
    case 'azure':
      return {
        ...endpoint,
        kind: settings.kind,
        apiKey: new Secret(settings.api_key),
        ...azureAddress(settings),
      };
    case 'bedrock':
      return {
        ...endpoint,
        kind: settings.kind,
        region: settings.region,
        credentials: bedrockCredentials(settings),
      };
  }
};

export const createLlmSettings = (vault: Vault) => {
  const plain = ['kind', ...plainFields, ...Object.keys(defaultLimits)];
  const sealed = new SealedSettings<LlmSettings>(vault, table, plain);
  const [apiKey, headers] = legacyColumns;

  const openLegacy = (row: LlmRow): LlmSettings =>
    row.kind === 'mock'
      ? { kind: 'mock' }
      : {
          kind: 'openai_compatible',
          base_url: row.base_url!,
          ...(row.api_key === null ? {} : { api_key: vault.open(row.api_key, apiKey!.boundTo(row.id)) }),
          ...(row.headers === null
            ? {}
            : { headers: JSON.parse(vault.open(row.headers, headers!.boundTo(row.id))) }),
        };

  const open = (row: LlmRow): LlmSettings =>
    row.settings === null
      ? openLegacy(row)
      : repairedAzure(sealed.open({ id: row.id, settings: row.settings }));

  return {
    secrets: [sealed.column, ...legacyColumns],
    open,
    masked: (settings: Partial<LlmSettings>) => sealed.masked(settings),

    /** The columns of `settings`, and those that the release before reads. It knows one kind with an endpoint. */
    columnsOf: (id: string, settings: LlmSettings) => {
      const endpoint = settings.kind === 'openai_compatible' ? settings : undefined;
      const seal = (text: string | undefined, boundTo: string) =>
        text === undefined ? null : vault.seal(text, boundTo);
      return {
        settings: sealed.seal(id, settings),
        base_url: endpoint?.base_url ?? null,
        api_key: seal(endpoint?.api_key, apiKey!.boundTo(id)),
        headers: seal(endpoint?.headers && JSON.stringify(endpoint.headers), headers!.boundTo(id)),
      };
    },

    resolve: (row: LlmRow): ResolvedLlm => resolveSettings(row.id, row.model, open(row)),
  };
};

export type LlmSettingsStore = ReturnType<typeof createLlmSettings>;
