import type { Body } from '../../api/index.ts';
import { integrations as kinds } from '../../api/kinds.gen.ts';
import type { ShownIntegration, ShownProviderSettings } from '../../api/types.gen.ts';
import { type SecretEntry, storedEntries } from '../../ui/index.ts';

export type Provider = ShownProviderSettings['provider'];

/** The values of the form. A secret is null while the stored one stays. */
export interface IntegrationValues {
  provider: Provider;
  url: string;
  api_token: string | null;
  dashboard_instance_id: string;
  stack_name: string;
  data_source: string;
  additional_headers: SecretEntry[];
  project_name: string;
  project_header: string;
  api_key: string | null;
  username: string;
  password: string | null;
  headers: SecretEntry[];
  trace_view_url: string;
  trace_ui_type: string | null;
  resource_attributes: SecretEntry[];
  description: string;
  version: string;
  debug: boolean;
}

export const noValues: IntegrationValues = {
  provider: 'otlp_custom_headers',
  url: '',
  api_token: '',
  dashboard_instance_id: '',
  stack_name: '',
  data_source: '',
  additional_headers: [],
  project_name: '',
  project_header: '',
  api_key: '',
  username: '',
  password: '',
  headers: [],
  trace_view_url: '',
  trace_ui_type: null,
  resource_attributes: [],
  description: '',
  version: '1',
  debug: false,
};

type Providers = typeof kinds;
/** The settings of the providers, by the document of the API. */
type Setting = {
  [P in Provider]: Providers[P]['required'][number] | Providers[P]['optional'][number];
}[Provider];

/** The fields of a provider, without its URL and its switch. */
const fieldsOf = (provider: Provider): Exclude<Setting, 'url' | 'is_enabled'>[] => {
  const { required, optional } = kinds[provider];
  return [...required, ...optional].filter((name) => name !== 'url' && name !== 'is_enabled');
};

export const toValues = ({ settings, description, version, debug }: ShownIntegration): IntegrationValues => ({
  ...noValues,
  provider: settings.provider,
  url: settings.url,
  api_token: settings.api_token?.set ? null : '',
  dashboard_instance_id: settings.dashboard_instance_id ?? '',
  stack_name: settings.stack_name ?? '',
  data_source: settings.data_source ?? '',
  additional_headers: storedEntries(Object.keys(settings.additional_headers ?? {})),
  project_name: settings.project_name ?? '',
  project_header: settings.project_header ?? '',
  api_key: settings.api_key?.set ? null : '',
  username: settings.username ?? '',
  password: settings.password?.set ? null : '',
  headers: storedEntries(Object.keys(settings.headers ?? {})),
  trace_view_url: settings.trace_view_url ?? '',
  trace_ui_type: settings.trace_ui_type ?? null,
  resource_attributes: Object.entries(settings.resource_attributes ?? {}).map(([name, value]) => ({
    name,
    value,
  })),
  description: description ?? '',
  version: version ?? '',
  debug,
});

const isEntries = (value: unknown): value is SecretEntry[] => Array.isArray(value);

/** The settings as the API takes them: without what is empty, and stored secrets as `{set: true}`. */
export const toSettings = (values: IntegrationValues): Body<'testObservabilitySettings'>['settings'] => {
  const settings: Record<string, unknown> = { provider: values.provider, url: values.url };
  for (const name of fieldsOf(values.provider)) {
    const value = values[name];
    if (isEntries(value)) {
      const entries = value.filter((entry) => entry.name !== '');
      settings[name] = Object.fromEntries(entries.map(({ name, value }) => [name, value ?? { set: true }]));
    } else if (value === null && name !== 'trace_ui_type') settings[name] = { set: true };
    else if (value !== '' && value !== null) settings[name] = value;
  }
  // Which settings there are depends on the provider: the API says which are missing.
  return settings as unknown as Body<'testObservabilitySettings'>['settings'];
};

/** The field of a fault: those of `settings` are fields of the form. */
export const fieldOf = (path: string): string => path.replace(/^settings\./, '');

/** The values that the API never shows. */
export const secrets = ['api_token', 'api_key', 'password', 'headers', 'additional_headers'] as const;

/** The host of an address, or all of it if it has none: a placeholder may stand for it. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
