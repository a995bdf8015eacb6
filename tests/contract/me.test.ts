import { expect, test } from 'vitest';
import { version } from '../../src/lib/version.ts';
import { newAgent, newKey, ok, onPostgres, setSettings } from './fixture.ts';

onPostgres((at) => {
  test('one request says what the application needs at its start', async () => {
    await ok(at().api.patch('/branding', { workspace_name: 'Night shift' }));
    await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 7 });
    const base_url = `${at().test.origin}/api/v2`;
    expect(await ok(at().app.get('/me'))).toMatchObject({
      review_count: 0,
      base_url,
      otlp_url: `${base_url}/telemetry/v1/traces`,
      version,
      branding: { workspace_name: 'Night shift', primary_color: '' },
      limits: {
        max_schedules_per_agent: 7,
        max_work_item_payload_size_in_kb: 100,
        stdio_tool_servers: false,
      },
    });
  });

  test('the Work Items that wait for a person are counted, for a key that may read them', async () => {
    const agent = await newAgent(at());
    const mock = { steps: [{ tools: [{ tool: 'request_review', args: { reason: 'Is it right?' } }] }] };
    await ok(at().api.post('/work-items', { agent_id: agent.id, payload: { mock } }));
    await expect.poll(async () => (await ok(at().app.get('/me'))).review_count).toBe(1);
    const { value } = await newKey(at(), 'builder', { scopes: ['agents:read'] });
    expect((await ok(at().as(value, '/app/api').get('/me'))).review_count).toBeNull();
  });
});
