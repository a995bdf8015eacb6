import { afterAll, beforeAll, expect, test } from 'vitest';
import { newServer, onFreePort, type Server } from '../harness/server.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';
import { startTracedPlatform, type TracedPlatform } from '../telemetry/fixture.ts';
import { describeWith, jsonOf } from './peers.ts';
import { traceOfRun } from './tracing.ts';

describeWith('jaeger', (program) => {
  let server: Server;
  let platform: TracedPlatform;
  let otlp = '';
  let query = '';
  beforeAll(async () => {
    platform = await startTracedPlatform({ OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=agents' });
    server = await newServer('jaeger');
    await onFreePort(async (port) => {
      const [ui, admin, grpc] = [await freePort(), await freePort(), await freePort()];
      otlp = `http://127.0.0.1:${port}/v1/traces`;
      query = `http://127.0.0.1:${ui}`;
      const options = {
        'collector.otlp.http.host-port': port,
        'collector.otlp.grpc.host-port': grpc,
        'query.http-server.host-port': ui,
        'query.grpc-server.host-port': await freePort(),
        'admin.http.host-port': admin,
        'collector.grpc-server.host-port': await freePort(),
        'collector.http-server.host-port': await freePort(),
      };
      await server.start({
        command: program,
        args: Object.entries(options).map(([name, number]) => `--${name}=127.0.0.1:${number}`),
        isReady: async () => (await fetch(`${query}/api/services`)).ok,
        withinMs: 60_000,
      });
    });
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await server?.stop('SIGKILL');
  });

  test('shows the trace of a run under the service of the integration, at the address of the link', async () => {
    const id = await platform.integrate({
      provider: 'otlp_custom_headers',
      url: otlp,
      resource_attributes: { 'service.name': 'night-shift', 'deployment.environment': 'staging' },
      trace_view_url: query,
      trace_ui_type: 'span_ui',
    });
    expect((await platform.api.post(`/observability/integrations/${id}/test`)).body.ok).toBe(true);
    const { traceId, links } = await traceOfRun(platform, id);
    expect(links).toEqual([`${query}/trace/${traceId}`]);
    // biome-ignore lint/suspicious/noExplicitAny: JSON of another product
    const trace: any = await until(async () => {
      const response = await fetch(`${query}/api/traces/${traceId}`);
      return response.ok && (await jsonOf(response)).data[0];
    });
    expect(trace.spans.length).toBeGreaterThan(1);
    const [process] = Object.values(trace.processes) as {
      serviceName: string;
      tags: { key: string; value: unknown }[];
    }[];
    expect(process!.serviceName).toBe('night-shift');
    const tags = Object.fromEntries(process!.tags.map(({ key, value }) => [key, value]));
    expect(tags).toMatchObject({ 'deployment.environment': 'staging', 'service.namespace': 'agents' });
    const { data } = await jsonOf(fetch(`${query}/api/services`));
    expect(data).toContain('night-shift');
  });
});
