import { afterAll, beforeAll, expect, test } from 'vitest';
import { newServer, onFreePort, type Server } from '../harness/server.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';
import { startTracedPlatform, type TracedPlatform } from '../telemetry/fixture.ts';
import { describeWith, jsonOf } from './peers.ts';
import { traceOfRun } from './tracing.ts';

describeWith('phoenix', (program) => {
  let server: Server;
  let platform: TracedPlatform;
  let origin = '';
  beforeAll(async () => {
    platform = await startTracedPlatform();
    server = await newServer('phoenix');
    await onFreePort(async (port) => {
      origin = `http://127.0.0.1:${port}`;
      await server.start({
        command: program,
        args: ['serve'],
        options: {
          env: {
            PATH: process.env.PATH,
            HOME: server.base,
            PHOENIX_WORKING_DIR: server.base,
            PHOENIX_HOST: '127.0.0.1',
            PHOENIX_PORT: String(port),
            PHOENIX_GRPC_PORT: String(await freePort()),
            PHOENIX_TELEMETRY_ENABLED: 'false',
          },
        },
        isReady: async () => (await fetch(`${origin}/healthz`)).ok,
        withinMs: 240_000,
      });
    });
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await server?.stop('SIGKILL');
  });

  test('has the trace of a run in the project that a resource attribute names', async () => {
    const id = await platform.integrate({
      provider: 'otlp_custom_headers',
      url: `${origin}/v1/traces`,
      resource_attributes: { 'openinference.project.name': 'night-shift' },
    });
    expect((await platform.api.post(`/observability/integrations/${id}/test`)).body.ok).toBe(true);
    const { traceId } = await traceOfRun(platform, id);
    // biome-ignore lint/suspicious/noExplicitAny: JSON of another product
    const found: any[] = await until(async () => {
      const response = await fetch(`${origin}/v1/projects/night-shift/spans?limit=1000`);
      if (!response.ok) return false;
      const { data } = await jsonOf(response);
      const ours = data.filter(
        (span: { context: { trace_id: string } }) => span.context.trace_id === traceId,
      );
      return ours.length > 1 && ours;
    }, 60_000);
    expect(found.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^invoke_agent/));
  });
});
