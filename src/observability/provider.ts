import { Secret } from '../lib/crypto.ts';
import type { Destination } from '../telemetry/index.ts';
import type { ProviderSettings } from './settings.ts';
import { type Placeholders, resolveUrl } from './urls.ts';

type Headers = Destination['headers'];

/** Basic authentication (RFC 7617). */
const basic = (userId: string, password: string): Secret =>
  new Secret(`Basic ${Buffer.from(`${userId}:${password}`, 'utf8').toString('base64')}`);

const custom = (headers: Record<string, string> | undefined): Headers =>
  Object.entries(headers ?? {}).map(([name, value]) => [name, new Secret(value)]);

/**
 * Returns the headers that a provider's backend needs in addition to the exporter's own. For
 * `llm_tracing` the header `projectHeader` carries `project_name`. Credentials are Secrets, which are redacted if
 * printed.
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

/** The configuration that requests to backends depend on. */
export interface RequestConfig {
  placeholders: Placeholders;
  /** The header that carries `project_name` (LLM_TRACING_PROJECT_HEADER). */
  projectHeader: string;
}

/** Returns where an integration's spans are sent and with which headers, or the problem that prevents it. */
export const targetOf = (
  settings: ProviderSettings,
  { placeholders, projectHeader }: RequestConfig,
): Pick<Destination, 'url' | 'headers' | 'problem'> => {
  const headers = requestHeaders(settings, projectHeader);
  const resolved = resolveUrl(settings.url, placeholders);
  return 'url' in resolved ? { headers, url: resolved.url } : { headers, url: '', problem: resolved.problem };
};
