import { Secret, type Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { LlmRow } from './store.ts';

/** The settings of each kind of LLM configuration, without its name and model. */
export type LlmSettings =
  | { kind: 'openai_compatible'; base_url: string; api_key?: string; headers?: Record<string, string> }
  | { kind: 'mock' };

/** A configuration as the agent runtime uses it, with its secrets. */
export type ResolvedLlm = { id: string; model: string } & (
  | { kind: 'openai_compatible'; base_url: string; apiKey: Secret | null; headers: Record<string, Secret> }
  | { kind: 'mock' }
);

const table = 'llm_configurations';

/** The columns of the release before. Rows that it wrote last have their settings there. */
const legacyColumns = (['api_key', 'headers'] as const).map((column) => ({
  table,
  column,
  boundTo: (id: string) => `${table}:${id}:${column}`,
}));

export const createLlmSettings = (vault: Vault) => {
  const sealed = new SealedSettings<LlmSettings>(vault, table, ['kind', 'base_url']);
  const [apiKey, headers] = legacyColumns;

  const openLegacy = (row: LlmRow): LlmSettings =>
    row.kind === 'mock'
      ? { kind: 'mock' }
      : {
          kind: row.kind,
          base_url: row.base_url!,
          ...(row.api_key === null ? {} : { api_key: vault.open(row.api_key, apiKey!.boundTo(row.id)) }),
          ...(row.headers === null
            ? {}
            : { headers: JSON.parse(vault.open(row.headers, headers!.boundTo(row.id))) }),
        };

  const open = (row: LlmRow): LlmSettings =>
    row.settings === null ? openLegacy(row) : sealed.open({ id: row.id, settings: row.settings });

  return {
    secrets: [sealed.column, ...legacyColumns],
    open,
    masked: (settings: Partial<LlmSettings>) => sealed.masked(settings),

    /**
     * The columns of `settings`, and those that the release before reads. A rotation of ENCRYPTION_KEY rewrites the
     * latter alone, so the row then counts as written by that release, with the same values.
     */
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

    resolve: (row: LlmRow): ResolvedLlm => {
      const { id, model } = row;
      const settings = open(row);
      if (settings.kind === 'mock') return { id, model, kind: 'mock' };
      const { kind, base_url, api_key, headers = {} } = settings;
      return {
        id,
        model,
        kind,
        base_url,
        apiKey: api_key === undefined ? null : new Secret(api_key),
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, new Secret(value)]),
        ),
      };
    },
  };
};

export type LlmSettingsStore = ReturnType<typeof createLlmSettings>;
