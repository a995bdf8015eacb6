import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeRequest, spansNamed } from '../../packages/otlp/tests/encode.ts';
import { must } from '../faults/scenarios/fixture.ts';
import { client } from '../harness/http.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { integrations, startTracedPlatform, type TracedPlatform } from './fixture.ts';

let platform: TracedPlatform;
let second: PlatformProcess;
let debugging: OtlpReceiver;
let ordinary: OtlpReceiver;
let id: string;
beforeAll(async () => {
  platform = await startTracedPlatform();
  [second, debugging, ordinary] = await Promise.all([
    spawnPlatform({ databaseUrl: platform.databaseUrl }),
    startOtlpReceiver(),
    startOtlpReceiver(),
  ]);
  await platform.integrate({ provider: 'otlp_custom_headers', url: ordinary.url });
  id = await platform.integrate({ provider: 'otlp_custom_headers', url: debugging.url }, true);
});
afterAll(async () => {
  await second?.stop();
  await platform?.[Symbol.asyncDispose]();
  await Promise.all([debugging?.close(), ordinary?.close()]);
});

const otlp = { headers: { 'content-type': 'application/x-protobuf' } };
const agentOf = ({ attributes, resource }: ReceivedSpan) =>
  attributes['gen_ai.agent.id'] ?? resource['gen_ai.agent.id'];

test('of one trace, the spans of the agent go to all integrations, application spans to the debug integration only', async () => {
  const traceId = randomBytes(16).toString('hex');
  const body = encodeRequest([
    { attributes: { 'gen_ai.agent.id': 'x' }, scopes: [{ spans: [{ name: 'chat', traceId }] }] },
    {
      attributes: { 'service.name': 'shop' },
      scopes: [
        {
          spans: [
            { name: 'SELECT', traceId },
            { name: 'execute_tool', traceId, attributes: { 'gen_ai.agent.id': 'x' } },
          ],
        },
      ],
    },
  ]);
  const headers = { ...otlp.headers, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await must(platform.api.raw('POST', '/telemetry/v1/traces', body, { headers }));
  const inTrace = (backend: OtlpReceiver) =>
    backend
      .spans()
      .filter((span) => span.traceId === traceId)
      .map(({ name }) => name)
      .sort();
  await until(() => inTrace(debugging).length >= 3 && inTrace(ordinary).length >= 2);
  expect(inTrace(ordinary)).toEqual(['chat', 'execute_tool']);
  expect(inTrace(debugging)).toEqual(expect.arrayContaining(['SELECT', 'chat', 'execute_tool']));
});

test('spans of the platform itself: all integrations get a run; only the debug integration gets requests, claims and steps', async () => {
  const agent = await must(platform.api.post('/agents', { name: 'Traced', mode: 'worker' }));
  const schedule = await must(
    platform.api.post(`/agents/${agent.id}/schedules`, { cron_expression: '0 0 1 1 *' }),
  );
  await must(platform.app.post(`/agents/${agent.id}/schedules/${schedule.id}/run`));
  const run = (backend: OtlpReceiver) => backend.spans().filter((span) => agentOf(span) === agent.id);
  const applicationIn = (backend: OtlpReceiver) =>
    backend.spans().filter((span) => agentOf(span) === undefined);
  for (const backend of [ordinary, debugging]) {
    await until(() => run(backend).some(({ name }) => name.startsWith('invoke_agent')));
  }
  const names = (spans: ReceivedSpan[]) => spans.map(({ name }) => name);
  // Several requests may be in flight, and arrive in any order.
  await until(() =>
    ['POST /api/v2/agents', 'claim work items', 'store step'].every((name) =>
      names(applicationIn(debugging)).includes(name),
    ),
  );
  expect(names(applicationIn(ordinary))).toEqual([]);
  expect(names(applicationIn(debugging))).toEqual(
    expect.arrayContaining(['POST /api/v2/agents', 'claim work items']),
  );
  expect(names(run(debugging))).toEqual(names(run(ordinary)));
  // Inside the run's own trace.
  const [{ traceId }] = run(ordinary) as [ReceivedSpan];
  const steps = applicationIn(debugging).filter((span) => span.traceId === traceId);
  expect(names(steps)).toContain('store step');
});

test('a request has its statements as spans, with the names of the conventions and without the values', async () => {
  const secret = `Named ${Date.now()}`;
  const response = await platform.api.raw(
    'POST',
    '/agents?x=y',
    JSON.stringify({ name: secret, mode: 'worker' }),
    {
      headers: { 'content-type': 'application/json' },
    },
  );
  expect(response.status).toBe(200);
  const traceId = response.headers.get('traceparent')!.split('-')[1];
  const spansOfTrace = () => debugging.spans().filter((span) => span.traceId === traceId);
  const server = () => spansOfTrace().find(({ kind }) => kind === 2);
  await until(() => server() !== undefined);
  expect(server()!.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/api/v2/agents',
    'url.path': '/api/v2/agents',
    'url.scheme': 'http',
    'http.response.status_code': 200,
  });
  const statements = spansOfTrace().filter(({ kind }) => kind === 3);
  expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['BEGIN', 'INSERT', 'COMMIT']));
  for (const { attributes, parentSpanId } of statements) {
    expect(attributes['db.system.name']).toBe('postgresql');
    expect(parentSpanId).toBe(server()!.spanId);
  }
  const texts = statements.map(({ attributes }) => attributes['db.query.text']);
  expect(texts).toContainEqual(expect.stringMatching(/^\s*insert into "?agents"?/));
  expect(texts.join()).not.toContain(secret);
  expect(ordinary.spans().some((span) => span.traceId === traceId)).toBe(false);
});

test('debug is switched on and off within a second on every replica', async () => {
  const replicas = [platform.process.url, second.url];
  const set = (debug: boolean) => must(platform.api.put(`${integrations}/${id}`, { version: '2', debug }));
  /** Sends requests to every replica from the change until well after a second, and keeps when each was sent. */
  const probe = async (debug: boolean): Promise<{ traceId: string; replica: number; afterMs: number }[]> => {
    const sent: { traceId: string; replica: number; afterMs: number }[] = [];
    await set(debug);
    const changed = performance.now();
    // Some are sent after a second has passed, however slow the machine is.
    for (let after = 0; after < 5; ) {
      if (performance.now() - changed > 1_000) after++;
      for (const [replica, url] of replicas.entries()) {
        const traceId = randomBytes(16).toString('hex');
        sent.push({ traceId, replica, afterMs: performance.now() - changed });
        const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
        await client(`${url}/api/v2`, platform.process.key).get('/agents?limit=1', { headers });
      }
      await sleep(20);
    }
    // What is sent now is delivered after all of that: spans wait 50 ms for others, and the log keeps their order.
    await sleep(150);
    const marker = `marker-${debug}`;
    for (const [replica, url] of replicas.entries()) {
      const to = client(`${url}/api/v2`, platform.process.key);
      await must(
        to.raw('POST', '/telemetry/v1/traces', spansNamed(`${marker}-${replica}`, 1, 'agent'), otlp),
      );
    }
    await until(() => debugging.spans().filter(({ name }) => name.startsWith(marker)).length === 2);
    return sent;
  };
  /** What a replica did otherwise after a second. */
  const lateAfter = async (debug: boolean) => {
    debugging.clear();
    const sent = (await probe(debug)).filter(({ afterMs }) => afterMs > 1_000);
    expect(new Set(sent.map(({ replica }) => replica)).size).toBe(replicas.length);
    const arrived = new Set(debugging.spans().map(({ traceId }) => traceId));
    return sent.filter(({ traceId }) => arrived.has(traceId) !== debug);
  };
  for (const debug of [false, true]) {
    let late = await lateAfter(debug);
    // A busy machine may need more than a second once, and not each time.
    if (late.length > 0) {
      await set(!debug);
      late = await lateAfter(debug);
    }
    expect(late, `debug ${debug}`).toEqual([]);
  }
});
