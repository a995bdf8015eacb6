import { describe, expect, test } from 'vitest';
import type { ProviderSettings } from './settings.ts';
import { traceUrl } from './trace-links.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const link = (settings: object) =>
  traceUrl(settings as ProviderSettings, new Map([['ZONE', 'eu-west-0']]), trace);

describe('trace links', () => {
  const dashboard = (url: string, stack_name?: string) =>
    link({ provider: 'hosted_dashboard', url, stack_name });

  test.each([
    ['https://otlp-gateway-prod-eu-west-0.example.net/otlp/v1/traces', 'https://acme.example.net'],
    [`https://otlp-\${ZONE}.example.net:8443/v1/traces`, 'https://acme.example.net'],
    ['https://ingest.eu.example.net/v1/traces', 'https://acme.eu.example.net'],
    ['http://example.net/v1/traces', 'https://acme.example.net'],
  ])('the dashboards of a stack that receives traces at %s are at %s', (url, origin) => {
    const explore = new URL(dashboard(url, 'Acme')!);
    expect(explore.origin + explore.pathname).toBe(`${origin}/explore`);
    const panes = JSON.parse(explore.searchParams.get('panes')!);
    expect(panes.trace.queries[0].query).toBe(trace);
  });

  test.each([
    ['an address', 'https://203.0.113.7/v1/traces', 'acme'],
    ['an IPv6 address', 'https://[2001:db8::1]/v1/traces', 'acme'],
    ['a name without a domain', 'http://localhost:4318/v1/traces', 'acme'],
    ['a url that does not resolve', `https://\${NOPE}.example.net/`, 'acme'],
    ['no stack name', 'https://otlp.example.net/v1/traces', undefined],
  ])('there is no trace link for %s', (_, url, stack) => {
    expect(dashboard(url, stack)).toBeNull();
  });

  const collector = (trace_view_url?: string, trace_ui_type?: string) =>
    link({ provider: 'otlp_basic_auth', url: 'https://c.example.com', trace_view_url, trace_ui_type });

  test('a trace link names the data source of the settings, and none without one', () => {
    const panesOf = (url: string | null) => JSON.parse(new URL(url!).searchParams.get('panes')!).trace;
    const ui = { trace_view_url: 'https://ui.example.com', trace_ui_type: 'dashboard_ui' };
    const otlp = { url: 'https://otlp.example.net/v1/traces' };
    for (const settings of [
      { provider: 'hosted_dashboard', ...otlp, stack_name: 'acme' },
      { provider: 'otlp_basic_auth', ...otlp, ...ui },
      { provider: 'otlp_custom_headers', ...otlp, ...ui },
    ]) {
      const query = { refId: 'A', queryType: 'traceql', query: trace };
      expect(panesOf(link(settings))).toMatchObject({ queries: [query] });
      expect(panesOf(link(settings))).not.toHaveProperty('datasource');
      expect(panesOf(link({ ...settings, data_source: 'tempo-1' }))).toMatchObject({
        datasource: 'tempo-1',
        queries: [{ ...query, datasource: { uid: 'tempo-1' } }],
      });
    }
  });

  test('the trace link depends on the type of the trace UI', () => {
    expect(collector('https://ui.example.com', 'span_ui')).toBe(`https://ui.example.com/trace/${trace}`);
    expect(collector('https://ui.example.com/a/?org=1', 'span_ui')).toBe(
      `https://ui.example.com/a/trace/${trace}?org=1`,
    );
    const explore = new URL(collector('https://ui.example.com/d', 'dashboard_ui')!);
    expect(explore.pathname).toBe('/d/explore');
    expect(explore.searchParams.get('panes')).toContain(trace);
    expect(collector('https://ui.example.com/d', 'unknown')).toBe('https://ui.example.com/d');
    expect(collector('https://ui.example.com/d')).toBe('https://ui.example.com/d');
    expect(collector()).toBeNull();
    expect(link({ provider: 'llm_tracing', url: 'https://t.example.com' })).toBeNull();
  });
});
