import type { Executor } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Integrations } from './integrations.ts';
import type { ProviderSettings } from './settings.ts';
import { listEffective } from './store.ts';
import { literalHost, type Placeholders, resolveUrl } from './urls.ts';

export interface TraceLink {
  integration_id: string;
  description: string | null;
  url: string;
}

/** Returns `base` with `path` appended to its path. The query is kept. */
const append = (base: string, path: string): URL => {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
};

/**
 * The explore page of a dashboard, opened with the trace as its query. Without a data source the page takes the one that
 * the browser used last, which may know no traces.
 */
const explore = (base: string, traceId: string, source: string | undefined): string => {
  const url = append(base, '/explore');
  const query = { refId: 'A', queryType: 'traceql', query: traceId };
  const pane = {
    ...(source === undefined ? {} : { datasource: source }),
    queries: [source === undefined ? query : { ...query, datasource: { uid: source } }],
    range: { from: 'now-7d', to: 'now' },
  };
  url.searchParams.set('schemaVersion', '1');
  url.searchParams.set('panes', JSON.stringify({ trace: pane }));
  return url.href;
};

/**
 * Returns the address of a stack's dashboards, from the url that its traces are sent to. The stack's name replaces the
 * first label of that host: `https://otlp-gateway-prod-eu-west-0.example.net/otlp/v1/traces` with `acme` gives
 * `https://acme.example.net`. A host of two labels is the domain itself. Null for an address or a single label, which
 * have no domain.
 */
const dashboardOf = (ingestUrl: string, stackName: string): string | null => {
  const labels = new URL(ingestUrl).hostname.split('.');
  if (literalHost(ingestUrl) !== null || labels.length < 2) return null;
  const domain = labels.length === 2 ? labels : labels.slice(1);
  return `https://${stackName.toLowerCase()}.${domain.join('.')}`;
};

/**
 * Returns the address where people see the trace (32 hex digits); null if the settings do not give one.
 */
export const traceUrl = (
  settings: ProviderSettings,
  placeholders: Placeholders,
  traceId: string,
): string | null => {
  if (settings.provider === 'llm_tracing') return null;
  if (settings.provider === 'hosted_dashboard') {
    const resolved = resolveUrl(settings.url, placeholders);
    if (!settings.stack_name || !('url' in resolved)) return null;
    const dashboard = dashboardOf(resolved.url, settings.stack_name);
    return dashboard && explore(dashboard, traceId, settings.data_source);
  }
  const { trace_view_url: base, trace_ui_type: type } = settings;
  if (!base) return null;
  if (type === 'span_ui') return append(base, `/trace/${traceId}`).href;
  return type === 'dashboard_ui' ? explore(base, traceId, settings.data_source) : base;
};

/**
 * Returns one link for each enabled integration in scope for the agent that can build one. `agentId` null: the agent
 * was deleted.
 */
export const traceLinks = async (
  executor: Executor,
  parts: { open: Integrations['open']; placeholders: Placeholders },
  agentId: string | null,
  traceId: string,
): Promise<TraceLink[]> => {
  const rows = await listEffective(executor, agentId !== null && isId(agentId) ? agentId : null);
  return rows.flatMap((row) => {
    const url = traceUrl(parts.open(row), parts.placeholders, traceId);
    return url === null ? [] : [{ integration_id: row.id, description: row.description, url }];
  });
};
