import { Secret } from '../lib/crypto.ts';
import type { Destination } from '../telemetry/index.ts';
import type { ProviderSettings, ResourceAttributes } from './settings.ts';
import { type Placeholders, resolveUrl } from './urls.ts';

type Headers = Destination['headers'];

/** Basic authentication (RFC 7617). */
const basic = (userId: string, password: string): Secret =>
  new Secret(`Basic ${Buffer.from(`${userId}:${password}`, 'utf8').toString('base64')}`);

const custom = (headers: Record<string, string> | undefined): Headers =>
  Object.entries(headers ?? {}).map(([name, value]) => [name, new Secret(value)]);

/** Which service reads which is not known from its address: each ignores the other. */
const projectHeaders = ['Langsmith-Project', 'x-project-name'];

/**
 * Returns the headers that a provider's backend needs in addition to the exporter's own. Credentials are Secrets, which
 * are redacted if printed.
 */
const requestHeaders = (settings: ProviderSettings, projectHeader: string | null): Headers => {
  switch (settings.provider) {
    case 'hosted_dashboard':
      return [
        ['authorization', basic(settings.dashboard_instance_id, settings.api_token)],
        ...custom(settings.additional_headers),
      ];
    case 'llm_tracing': {
      const named = settings.project_header ?? projectHeader;
      return [
        ['x-api-key', new Secret(settings.api_key)],
        ...(named === null ? projectHeaders : [named]).map((name) => [name, settings.project_name] as const),
        ...custom(settings.additional_headers),
      ];
    }
    case 'otlp_basic_auth':
      return [
        ['authorization', basic(settings.username, settings.password)],
        ...custom(settings.additional_headers),
      ];
    case 'otlp_custom_headers':
      return custom(settings.headers);
  }
};

/** The configuration that requests to backends depend on. */
export interface RequestConfig {
  placeholders: Placeholders;
  /** The header that carries `project_name` if the integration names none (LLM_TRACING_PROJECT_HEADER); null: not set. */
  projectHeader: string | null;
  /** Attributes of the platform's resource that its operator chose. */
  resource: ResourceAttributes;
}

/** Returns where and how an integration's spans are sent, or the problem that prevents it. */
export const targetOf = (
  settings: ProviderSettings,
  { placeholders, projectHeader }: Pick<RequestConfig, 'placeholders' | 'projectHeader'>,
): Pick<Destination, 'url' | 'headers' | 'resourceAttributes' | 'problem'> => {
  const shared = {
    headers: requestHeaders(settings, projectHeader),
    resourceAttributes: settings.resource_attributes ?? {},
  };
  const resolved = resolveUrl(settings.url, placeholders);
  return 'url' in resolved
    ? { ...shared, url: resolved.url }
    : { ...shared, url: '', problem: resolved.problem };
};
