import { Secret, type Vault } from '../lib/crypto.ts';
import { mapValues } from '../lib/objects.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import { repairedAzure } from './azure.ts';
import { limits, limitsOf } from './fields.ts';
import { effectiveBaseUrl, kindOf, type LlmSettings, plainFields, type ResolvedLlm } from './kinds.ts';
import type { LlmRow } from './store.ts';

const table = 'llm_configurations';

/** The columns of the release before. Rows that it wrote last have their settings there. */
const legacyColumns = (['api_key', 'headers'] as const).map((column) => ({
  table,
  column,
  boundTo: (id: string) => `${table}:${id}:${column}`,
}));

const resolveSettings = (id: string, model: string, settings: LlmSettings): ResolvedLlm => {
  const { kind } = settings;
  const shared = { id, model, kind, ...limitsOf(settings) };
  const address = effectiveBaseUrl(settings);
  const endpoint = address !== null && {
    base_url: address.replace(/\/+$/, ''),
    headers: mapValues(settings.headers ?? {}, (value) => new Secret(value)),
  };
  return { ...shared, ...endpoint, ...kindOf(kind).resolve(settings) } as ResolvedLlm;
};

const repaired = (settings: LlmSettings): LlmSettings =>
  settings.kind === 'azure' ? repairedAzure(settings) : settings;

export const createLlmSettings = (vault: Vault) => {
  const plain = ['kind', ...plainFields, ...Object.keys(limits)];
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
    row.settings === null ? openLegacy(row) : repaired(sealed.open({ id: row.id, settings: row.settings }));

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
