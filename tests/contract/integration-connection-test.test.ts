import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { until } from '../harness/wait.ts';
import {
  examples,
  type IntegrationsFixture,
  integrations,
  startIntegrations,
} from './integrations-fixture.ts';

describe('the test of a connection', () => {
  let fixture: IntegrationsFixture;
  let receiver: OtlpReceiver;
  beforeAll(async () => {
    [fixture, receiver] = await Promise.all([startIntegrations('embedded'), startOtlpReceiver()]);
  });
  afterEach(() => {
    receiver.respondWith({});
    receiver.clear();
  });
  afterAll(async () => {
    await receiver?.close();
    await fixture?.close();
  });

  const secretFree = /secret-|c2VjcmV0|hunter2/;
  const run = async (settings: object) => {
    const response = await fixture.admin.post(`${integrations}/test`, { settings });
    expect(response.status, response.text).toBe(200);
    expect(response.text).not.toMatch(secretFree);
    const { ok, steps } = response.body;
    expect(steps.every((step: { ok: boolean }, i: number) => step.ok === (ok || i < steps.length - 1))).toBe(
      true,
    );
    return { ok, last: steps.at(-1), names: steps.map((step: { step: string }) => step.step) };
  };

  test.each([
    [
      'hosted_dashboard',
      { authorization: `Basic ${btoa('123456:secret-api-token')}`, 'x-scope': 'secret-header-value' },
    ],
    ['llm_tracing', { 'x-api-key': 'secret-api-key', 'langsmith-project': 'shop', 'x-project-name': 'shop' }],
    ['otlp_basic_auth', { authorization: `Basic ${btoa('alice:secret-password')}`, 'x-version': '4' }],
    ['otlp_custom_headers', { authorization: 'Bearer secret-bearer', 'x-tenant': 'a' }],
  ] as const)('sends one real span to %s with its own headers', async (provider, headers) => {
    const { ok, names } = await run({ ...examples[provider], url: `${receiver.url}?a=1` });
    expect(ok).toBe(true);
    expect(names).toEqual(['url', 'name_lookup', 'connect', 'authentication', 'sample_span']);
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/v1/traces?a=1', fault: null });
    expect(request!.headers).toMatchObject({
      ...headers,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
    const [span] = request!.spans;
    expect(request!.spans).toHaveLength(1);
    expect(span).toMatchObject({
      name: 'connection test',
      kind: 1,
      resource: expect.objectContaining({ 'service.name': 'agent-platform' }),
    });
    expect(span!.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span!.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(Math.abs(Number(span!.endTimeUnixNano / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    expect(span!.endTimeUnixNano).toBeGreaterThan(span!.startTimeUnixNano);
  });

  test('the header of the project is the one of the integration, and the sample span has its attributes', async () => {
    const more = { additional_headers: { 'X-Tenant': 'b' }, resource_attributes: { 'service.name': 'shop' } };
    const settings = { ...examples.llm_tracing, url: receiver.url, project_header: 'X-Own', ...more };
    expect((await run(settings)).ok).toBe(true);
    const { headers, spans } = receiver.requests[0]!;
    expect(headers).toMatchObject({ 'x-own': 'shop', 'x-tenant': 'b' });
    for (const name of ['langsmith-project', 'x-project-name']) expect(headers).not.toHaveProperty(name);
    expect(spans[0]!.resource).toMatchObject({
      'service.name': 'shop',
      'service.version': expect.any(String),
    });
  });

  test.each([
    [401, 'authentication'],
    [403, 'authentication'],
    [307, 'sample_span'],
    [400, 'sample_span'],
    [404, 'sample_span'],
    [429, 'sample_span'],
    [503, 'sample_span'],
  ])('fails on a response of %i at %s, and does not show what the backend repeats', async (status, step) => {
    receiver.respondWith((request) => ({
      status,
      headers: { 'content-type': 'text/plain', location: 'https://elsewhere.example' },
      body: `refused: ${JSON.stringify(request.headers)}`,
    }));
    const { ok, last } = await run({ ...examples.otlp_basic_auth, url: receiver.url });
    expect(ok).toBe(false);
    expect(last.step).toBe(step);
    expect(last.detail).toContain(String(status));
  });

  test('fails if the backend rejects the span in a 200 response', async () => {
    receiver.respondWith({ partialSuccess: { rejectedSpans: 1, errorMessage: 'no such tenant' } });
    const { ok, last } = await run({ ...examples.otlp_basic_auth, url: receiver.url });
    expect([ok, last.step]).toEqual([false, 'sample_span']);
    expect(last.detail).toContain('no such tenant');
  });

  test('says which step failed: the placeholder, the name, the address, the port, TLS or the response', async () => {
    const at = async (url: string) => (await run({ ...examples.otlp_basic_auth, url })).last.step;
    expect(await at(`https://\${NOPE}.example.com/`)).toBe('url');
    expect(await at('http://does-not-exist.invalid/')).toBe('name_lookup');
    expect(await at('http://169.254.169.254/v1/traces')).toBe('name_lookup');
    const closed = await startOtlpReceiver();
    await closed.close();
    expect(await at(closed.url)).toBe('connect');
    expect(await at(`https://127.0.0.1:${receiver.port}/`)).toMatch(/tls|sample_span/);
    receiver.respondWith({ drop: true });
    expect(await at(receiver.url)).toBe('sample_span');
  });

  test('ends if the backend never responds', async () => {
    const hanging = createServer(() => {});
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const before = Date.now();
    const { port } = hanging.address() as AddressInfo;
    const { ok, last } = await run({ ...examples.otlp_basic_auth, url: `https://127.0.0.1:${port}/` });
    expect([ok, last.step]).toEqual([false, 'sample_span']);
    // Its own limit is 4.5 s; without one it would wait for minutes.
    expect(Date.now() - before).toBeLessThan(20_000);
    hanging.close();
  });

  test('checks settings as create does', async () => {
    const settings = { ...examples.otlp_custom_headers, headers: { a: '1\r\nb: 2' } };
    expect((await fixture.admin.post(`${integrations}/test`, { settings })).status).toBe(422);
  });

  test('of a saved integration resumes its delivery on every replica if it succeeds, and does not if it fails', async () => {
    const settings = { ...examples.otlp_basic_auth, url: receiver.url, is_enabled: false };
    const { id } = (await fixture.admin.post(integrations, { settings, version: '1' })).body;
    const number = fixture.observability.destinations.all().find((d) => d.id === id)!.number;
    receiver.respondWith(500);
    const failed = await fixture.admin.post(`${integrations}/${id}/test`);
    expect([failed.status, failed.body.ok]).toEqual([200, false]);
    receiver.respondWith(200);
    const passed = await fixture.admin.post(`${integrations}/${id}/test`);
    expect([passed.status, passed.body.ok]).toEqual([200, true]);
    await until(() => fixture.resumed.length >= 2, 1_000);
    expect(fixture.resumed).toEqual([number, number]);
    const etag = (await fixture.admin.get(`${integrations}/${id}`)).headers.get('etag');
    expect(etag).toBe('"1"');
  });

  test('health is what delivery reports; a new integration has delivered nothing, a disabled one says so', async () => {
    const { id } = (await fixture.admin.post(integrations, { settings: examples.llm_tracing, version: '1' }))
      .body;
    const path = `${integrations}/${id}`;
    const { number } = fixture.observability.destinations.all().find((d) => d.id === id)!;
    const nothing = {
      ...{ delivered: 0, rejected: 0, dead_lettered: 0, expired: 0, discarded: 0, queued: 0 },
      ...{ backlog_bytes: 0, backlog_age_seconds: 0 },
      ...{ last_success_at: null, last_error: null, next_attempt_at: null },
    };
    expect((await fixture.admin.get(`${path}/health`)).body).toEqual({ ...nothing, state: 'delivering' });
    const health = {
      ...nothing,
      state: 'retrying' as const,
      delivered: 5,
      queued: 7,
      backlog_age_seconds: 1.5,
      last_error: 'the backend responded with 503',
      next_attempt_at: '2026-01-31T08:00:00.000Z',
    };
    fixture.healthOf.set(number, health);
    expect((await fixture.admin.get(`${path}/health`)).body).toEqual(health);
    await fixture.admin.patch(path, { is_enabled: false });
    expect((await fixture.admin.get(`${path}/health`)).body).toEqual({ ...health, state: 'disabled' });
  });
});
