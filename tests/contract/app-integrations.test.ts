import { expect, test } from 'vitest';
import { takeSamples } from '../../src/telemetry/reports/samples.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { expectError, newAgent, ok, onPostgres } from './fixture.ts';

const secret = 'a-secret-value';

onPostgres((at) => {
  const basic = (url: string) => ({
    provider: 'otlp_basic_auth',
    url,
    username: 'clerk',
    password: secret,
    trace_ui_type: 'span_ui',
  });

  const create = async (settings: object) =>
    (await at().app.post('/integrations', { settings, version: '1' })).body;

  test('no response contains a credential, whatever the provider', async () => {
    const url = 'https://collector.example.com/v1/traces';
    for (const [settings, shown] of [
      [basic(url), { username: 'clerk', password: { set: true }, trace_ui_type: 'span_ui' }],
      [
        { provider: 'otlp_custom_headers', url, headers: { 'x-key': secret } },
        { headers: { 'x-key': { set: true } } },
      ],
      [
        {
          provider: 'hosted_dashboard',
          url,
          api_token: secret,
          dashboard_instance_id: '7',
          additional_headers: { 'x-more': secret },
        },
        {
          api_token: { set: true },
          dashboard_instance_id: '7',
          additional_headers: { 'x-more': { set: true } },
        },
      ],
      [
        { provider: 'llm_tracing', url, project_name: 'p', api_key: secret },
        { project_name: 'p', api_key: { set: true } },
      ],
    ] as const) {
      const created = await at().app.post('/integrations', { settings, version: '1' });
      expect(created.status).toBe(201);
      expect(created.body.settings).toEqual({ provider: settings.provider, url, is_enabled: true, ...shown });
      const one = `/integrations/${created.body.id}`;
      const responses = [
        created,
        await at().app.get('/integrations'),
        await at().app.get(one),
        await at().app.put(one, { settings: { provider: settings.provider, ...shown, url } }),
        await at().app.patch(one, { is_enabled: false }),
      ];
      for (const { status, text } of responses) {
        expect(status).toBeLessThan(300);
        expect(text).not.toContain(secret);
      }
      expect(responses.at(-1)!.body.health.state).toBe('disabled');
      const { settings: kept } = (await at().api.get(`/observability${one}`)).body;
      expect(kept).toEqual({ ...settings, is_enabled: false });
      await at().api.delete(`/observability${one}`);
    }
    const reads = await ok(at().api.get('/audits?action=integration.credentials_read'));
    // Those of this test by the public operation.
    expect(reads.data.length).toBe(4);
  });

  test('a secret that is left out stays, one that is sent replaces it, and another provider needs its own', async () => {
    const url = 'https://collector.example.com/v1/traces';
    const headers = { 'x-one': secret, 'x-two': secret };
    const { id } = await create({ provider: 'otlp_custom_headers', url, headers });
    const put = (settings: object) => at().app.put(`/integrations/${id}`, { settings });
    const stored = async () => (await ok(at().api.get(`/observability/integrations/${id}`))).settings;
    await ok(put({ provider: 'otlp_custom_headers', url: `${url}/2` }));
    expect(await stored()).toMatchObject({ url: `${url}/2`, headers });
    await ok(
      put({ provider: 'otlp_custom_headers', url, headers: { 'x-one': { set: true }, 'x-three': 'new' } }),
    );
    expect((await stored()).headers).toEqual({ 'x-one': secret, 'x-three': 'new' });
    expectError(await put({ provider: 'otlp_custom_headers', url, headers: { 'x-no': { set: true } } }), 400);
    expectError(await put({ provider: 'otlp_basic_auth', url, username: 'clerk' }), 400);
    expectError(await put({ provider: 'otlp_custom_headers', url: 'ftp://x' }), 422);
    expect((await stored()).headers).toEqual({ 'x-one': secret, 'x-three': 'new' });
    const list = await at().app.get('/integrations');
    const known = { headers: { 'if-none-match': list.headers.get('etag')! } };
    expect((await at().app.get('/integrations', known)).status).toBe(304);
    await at().api.delete(`/observability/integrations/${id}`);
  });

  test('shows its scopes with the names of agents, its health, and what it delivered minute by minute', async () => {
    await using backend = await startOtlpReceiver();
    const { id } = await create(basic(backend.url));
    const agent = await newAgent(at(), { name: 'Night clerk' });
    await at().api.post(`/observability/integrations/${id}/scopes`, { scope: 'agent', agent_id: agent.id });
    backend.respondWith(401);
    const paused = async () => {
      await ok(at().test.api.post('/telemetry/v1/traces', { resourceSpans: [span(agent.id)] }));
      return (await ok(at().app.get(`/integrations/${id}`))).health;
    };
    await expect.poll(async () => (await paused()).state).toBe('paused');
    const shown = await ok(at().app.get(`/integrations/${id}`));
    expect(shown.scopes).toEqual([
      { scope: 'global', agent: null },
      { scope: 'agent', agent: { id: agent.id, name: 'Night clerk' } },
    ]);
    expect(shown.health).toMatchObject({ state: 'paused', last_error: expect.stringContaining('401') });
    await expect
      .poll(async () => (await ok(at().app.get(`/integrations/${id}`))).health.last_error_at)
      .toEqual(expect.any(String));
    await at().db.run(takeSamples);
    const history = await ok(at().app.get(`/integrations/${id}/history`));
    expect(history.data.at(-1)).toMatchObject({ delivered: 0, dead_lettered: 0 });
    expect(history.data.at(-1).queued).toBeGreaterThan(0);
    backend.respondWith(200);
    expect((await ok(at().app.post(`/integrations/${id}/test`))).ok).toBe(true);
    await expect.poll(async () => (await ok(at().app.get(`/integrations/${id}`))).health.queued).toBe(0);
    const unsaved = { ...basic(backend.url), password: undefined };
    expect((await ok(at().app.post(`/integrations/${id}/test`, { settings: unsaved }))).ok).toBe(true);
  });
});

const span = (agentId: string) => ({
  resource: { attributes: [{ key: 'gen_ai.agent.id', value: { stringValue: agentId } }] },
  scopeSpans: [
    {
      spans: [
        {
          traceId: 'aa'.repeat(16),
          spanId: 'bb'.repeat(8),
          name: 's',
          startTimeUnixNano: '1',
          endTimeUnixNano: '2',
        },
      ],
    },
  ],
});
