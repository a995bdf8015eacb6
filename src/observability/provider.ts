import { Secret } from '../lib/crypto.ts';
import type { Destination } from '../telemetry/index.ts';
import type { ProviderSettings } from './settings.ts';
import { type Placeholders, resolveUrl } from './urls.ts';

type Headers = Destination['headers'];

const basic = (userId: string, password: string): Secret =>
  new Secret(`Basic ${Buffer.from(`${userId}:${password}`, 'utf8').toString('base64')}`);

const custom = (headers: Record<string, string> | undefined): Headers =>
  Object.entries(headers ?? {}).map(([name, value]) => [name, new Secret(value)]);

/**
 * The headers that a provider's backend is sent besides the exporter's own (product, section 8).
 * `projectHeader` carries `project_name` for `llm_tracing`. Values are Secrets: whatever prints them redacts them.
 */
const requestHeaders = (settings: ProviderSettings, projectHeader: string): Headers => {
  switch (settings.provider) {
    case 'hosted_dashboard':
      return [
        ['authorization', basic(settings.dashboard_instance_id, settings.api_token)],
        ...custom(settings.additional_headers),
      ];
    case 'llm_tracing':
      return [
        ['x-api-key', new Secret(settings.api_key)],
        [projectHeader, settings.project_name],
      ];
    case 'otlp_basic_auth':
      return [['authorization', basic(settings.username, settings.password)]];
    case 'otlp_custom_headers':
      return custom(settings.headers);
  }
};

/** What of the configuration a request depends on. */
export interface RequestConfig {
  placeholders: Placeholders;
  /** The header that carries `project_name` (LLM_TRACING_PROJECT_HEADER). */
  projectHeader: string;
}

/** Where an integration's spans are sent, and with what headers; or why that is impossible. */
export const targetOf = (
  settings: ProviderSettings,
  { placeholders, projectHeader }: RequestConfig,
): Pick<Destination, 'url' | 'headers' | 'problem'> => {
  const headers = requestHeaders(settings, projectHeader);
  const resolved = resolveUrl(settings.url, placeholders);
  return 'url' in resolved ? { headers, url: resolved.url } : { headers, url: '', problem: resolved.problem };
};
