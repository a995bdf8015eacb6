import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import type { OtlpReceiver } from '../harness/otlp-receiver.ts';
import { adminKey, type PlatformProcess } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { type Clients, clientsOf, must } from './clients.ts';

/** What a test must know of a fixture besides the responses. */
export interface Facts {
  agents: Record<'worker' | 'busy' | 'secret' | 'careful', string>;
  schedules: Record<string, { agent: string; id: string }>;
  workItems: Record<string, string>;
  integrations: Record<'dashboard' | 'tracing' | 'basic' | 'custom', string>;
  llm: string;
  /** Values of API keys. */
  keys: Record<'admin' | 'builder' | 'member' | 'expiring' | 'revoked', { id: string; value: string }>;
  /** POST requests with an Idempotency-Key, and their responses. */
  idempotent: { path: string; key: string; body: unknown; status: number; response: object }[];
  /** Where its integrations sent, and its model: both are replaced when the fixture is opened. */
  backendPort: number;
  modelUrl: string;
  /** When the release was killed, by its database and by its machine: milliseconds since 1970. */
  endedAt: number;
}

/** The secrets of a fixture. They must arrive at their destinations after the upgrade. */
export const secrets = {
  model: { api_key: 'sk-of-the-upgrade-0123', header: 'header-of-the-upgrade' },
  dashboard: { api_token: 'token-of-the-dashboard', dashboard_instance_id: '4711' },
  tracing: { api_key: 'key-of-the-tracing' },
  basic: { username: 'user', password: 'password-of-the-collector' },
  custom: { 'x-secret': 'header-of-the-collector' },
};

const minute = 60_000;

/** Where each integration sends, as the path on the one backend. */
const backend = `http://127.0.0.1:\${UPGRADE_BACKEND_PORT}`;
export const placeholders = (port: number): Record<string, string> => ({
  URL_PLACEHOLDERS: 'UPGRADE_BACKEND_PORT',
  UPGRADE_BACKEND_PORT: String(port),
});

const schedules: Record<string, Record<string, unknown> & { agent?: 'worker' | 'careful' }> = {
  often: {
    cron_expression: '*/10 * * * *',
    work_item_name: 'often',
    payload: { depth: { of: ['payload'] } },
  },
  berlin: { cron_expression: '30 2 * * *', timezone: 'Europe/Berlin', metadata: { made: 'by hand' } },
  lordHowe: { cron_expression: '*/15 * * * *', timezone: 'Australia/Lord_Howe', catch_up: false },
  // A local time that the clocks skip in 2027.
  onceAYear: { cron_expression: '30 2 28 3 *', timezone: 'Europe/Berlin', message: 'once a year' },
  leapDay: { cron_expression: '0 0 29 2 *' },
  paused: { cron_expression: '0 9 * * 1-5', timezone: 'America/New_York' },
  resumed: { cron_expression: '0,30 * * * *', timezone: 'Asia/Kolkata' },
};

/** Makes agents, models, schedules, integrations, keys and settings. */
export const configure = async ({ api, app }: Clients, modelUrl: string): Promise<Facts> => {
  const agent = (body: Record<string, unknown>) =>
    must(api.post('/agents', { mode: 'worker', instructions: 'Be brief. Ünïcödé 🌍', ...body }));
  const llm = await must(
    api.post('/llm-configurations', {
      kind: 'openai_compatible',
      name: 'House model',
      model: 'house-1',
      base_url: modelUrl,
      api_key: secrets.model.api_key,
      headers: { 'x-house': secrets.model.header },
    }),
  );
  await must(api.post('/llm-configurations', { kind: 'mock', name: 'Another mock' }));
  const agents = {
    worker: (
      await agent({ name: 'Night clerk', description: 'Closes the day', settings: { max_attempts: 2 } })
    ).id,
    busy: (await agent({ name: 'Busy', settings: { max_concurrency: 1, timeout_seconds: 3_600 } })).id,
    secret: (await agent({ name: 'With a model of its own', llm_id: llm.id, model: 'house-2' })).id,
    careful: (await agent({ name: 'Careful', settings: { max_attempts: 1 } })).id,
  };
  await agent({ name: 'Talker', mode: 'conversational' });
  await must(api.patch(`/agents/${agents.careful}`, { description: 'changed once' }));

  const made: Facts['schedules'] = {};
  for (const [name, body] of Object.entries(schedules)) {
    const { id } = await must(api.post(`/agents/${agents.worker}/schedules`, body));
    made[name] = { agent: agents.worker, id };
  }
  const berlin = `/agents/${agents.worker}/schedules/${made.berlin!.id}`;
  await must(api.put(berlin, { ...schedules.berlin, message: 'Close the day', work_item_name: 'nightly' }));
  await must(app.post(`/agents/${agents.worker}/schedules/${made.paused!.id}/pause`, { reason: 'holidays' }));
  for (const action of ['pause', 'resume'])
    await must(app.post(`/agents/${agents.worker}/schedules/${made.resumed!.id}/${action}`));

  const integration = async (settings: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    (await must(api.post('/observability/integrations', { version: '1', settings, ...more }))).id;
  const integrations = {
    dashboard: await integration(
      {
        provider: 'hosted_dashboard',
        url: `${backend}/dashboard`,
        stack_name: 'night',
        ...secrets.dashboard,
      },
      { description: 'the dashboard' },
    ),
    tracing: await integration({
      provider: 'llm_tracing',
      url: `${backend}/tracing`,
      project_name: 'night shift',
      ...secrets.tracing,
    }),
    basic: await integration(
      { provider: 'otlp_basic_auth', url: `${backend}/basic`, is_enabled: false, ...secrets.basic },
      { debug: true },
    ),
    custom: await integration({
      provider: 'otlp_custom_headers',
      url: `${backend}/custom`,
      headers: secrets.custom,
      trace_view_url: 'https://traces.example.com',
      trace_ui_type: 'span_ui',
    }),
  };
  const scope = (id: string, body: unknown) =>
    must(api.post(`/observability/integrations/${id}/scopes`, body));
  await scope(integrations.dashboard, { scope: 'global' });
  await scope(integrations.tracing, { scope: 'agent', agent_id: agents.worker });
  await scope(integrations.tracing, { scope: 'agent', agent_id: agents.careful });
  await scope(integrations.basic, { scope: 'global' });
  await scope(integrations.custom, { scope: 'global' });

  const key = async (name: string, body: Record<string, unknown>) => {
    const { id, value } = await must(api.post('/api-keys', { name, ...body }));
    return { id, value };
  };
  const inAMonth = new Date(Date.now() + 30 * 24 * 60 * minute).toISOString();
  const keys = {
    admin: await key('An administrator', { role: 'admin' }),
    builder: await key('A builder', { role: 'builder' }),
    member: await key('A member', { role: 'member' }),
    expiring: await key('Until next month', { role: 'member', expires_at: inAMonth }),
    revoked: await key('Revoked', { role: 'admin' }),
  };
  await must(api.delete(`/api-keys/${keys.revoked.id}`));

  await must(
    api.patch('/advanced-settings', { MAX_SCHEDULES_PER_AGENT: 33, TELEMETRY_RETENTION_HOURS: 8_760 }),
  );
  return {
    agents,
    schedules: made,
    workItems: {},
    integrations,
    llm: llm.id,
    keys,
    idempotent: [],
    backendPort: 0,
    modelUrl,
    endedAt: 0,
  };
};

/** Spans of the agent that is in every scope, with a name and a number each. */
export const sendSpans = async (url: string, agent: string, prefix: string, count: number): Promise<void> => {
  const { status } = await fetch(`${url}/api/v2/telemetry/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
    body: spansNamed(prefix, count, agent) as Uint8Array<ArrayBuffer>,
  });
  if (status !== 200) throw new Error(`the spans were refused with ${status}`);
};

const health = (clients: Clients, id: string) =>
  must(clients.api.get(`/observability/integrations/${id}/health`));

/** The backend takes all spans but those of `/custom` that are called poison. */
export const pickyBackend = (receiver: OtlpReceiver): void =>
  receiver.respondWith((request) =>
    request.url === '/custom' && request.spans.some(({ name }) => name.startsWith('poison')) ? 400 : 200,
  );

/** Work Items that end, and spans that are delivered or become dead letters. */
export const work = async (
  platform: PlatformProcess,
  receiver: OtlpReceiver,
  facts: Facts,
): Promise<void> => {
  const clients = clientsOf(platform.url);
  const { api, app } = clients;
  const { agents } = facts;
  const item = async (name: string, body: Record<string, unknown>) => {
    const { id } = await must(
      api.post('/work-items', { agent_id: agents.worker, work_item_name: name, ...body }),
    );
    facts.workItems[name] = id;
    return id as string;
  };
  const steps = (...list: unknown[]) => ({ payload: { mock: { steps: list } } });
  await item('completed', { message: 'What time is it?' });
  await item(
    'completed with tools',
    steps({ text: 'a', tool: 'current_time', args: { timezone: 'Asia/Tokyo' } }, { text: 'Ünïcödé 🌍' }),
  );
  await item('error', { agent_id: agents.careful, payload: { mock: { fail: 'out of order' } } });
  await item(
    'needs review',
    steps({ text: 'Not sure.', tool: 'request_review', args: { reason: 'Look at it.' } }),
  );
  await item(
    'continued',
    steps({ tool: 'request_review', args: { reason: 'Look at it.' } }, { text: 'Thank you.' }),
  );
  await item('with a model', { agent_id: agents.secret, message: 'Hello' });
  const cancelled = await item('cancelled', { draft: true });
  await must(api.post(`/work-items/${cancelled}/cancel`));
  await item('draft', { draft: true, message: 'later', payload: { nested: [{ a: 1 }, null, 1e21] } });
  await item('indeterminate', { draft: true });
  await must(app.post(`/agents/${agents.worker}/schedules/${facts.schedules.paused!.id}/run`));

  const statusOf = async (name: string) =>
    (await must(api.get(`/work-items/${facts.workItems[name]}`))).status;
  const expected = {
    completed: 'COMPLETED',
    'completed with tools': 'COMPLETED',
    error: 'ERROR',
    'needs review': 'NEEDS_REVIEW',
    continued: 'NEEDS_REVIEW',
    'with a model': 'COMPLETED',
  };
  for (const [name, status] of Object.entries(expected))
    await until(async () => (await statusOf(name)) === status, 30_000);
  await must(api.post(`/work-items/${facts.workItems.continued}/continue`, { message: 'Go on.' }));
  await until(async () => (await statusOf('continued')) === 'COMPLETED', 30_000);

  const settings = { provider: 'otlp_custom_headers', url: `${backend}/once`, is_enabled: false };
  const once: [string, object][] = [
    ['/agents', { name: 'Only once', mode: 'worker' }],
    [`/agents/${agents.careful}/schedules`, { cron_expression: '0 0 1 1 *' }],
    ['/work-items', { agent_id: agents.worker, message: 'only once', draft: true }],
    ['/observability/integrations', { version: '1', settings }],
  ];
  for (const [i, [path, body]] of once.entries()) {
    const key = `of-the-upgrade-${i}`;
    const response = await api.post(path, body, { headers: { 'idempotency-key': key } });
    facts.idempotent.push({
      path,
      key,
      body,
      status: response.status,
      response: await must(Promise.resolve(response)),
    });
  }

  pickyBackend(receiver);
  await sendSpans(platform.url, agents.worker, 'delivered', 40);
  // More than 16 spans were accepted before, so these are dead-lettered one by one.
  await sendSpans(platform.url, agents.worker, 'poison', 3);
  await sendSpans(platform.url, agents.worker, 'after', 5);
  for (const id of [facts.integrations.dashboard, facts.integrations.tracing, facts.integrations.custom])
    await until(async () => (await health(clients, id)).queued === 0, 60_000);
};

/** What is in flight when the release is killed: a backlog, a Work Item that executes and one that waits for it. */
export const leaveInFlight = async (
  platform: PlatformProcess,
  receiver: OtlpReceiver,
  facts: Facts,
): Promise<void> => {
  const { api } = clientsOf(platform.url);
  receiver.respondWith(503);
  await sendSpans(platform.url, facts.agents.worker, 'backlog', 50);
  await sendSpans(platform.url, facts.agents.careful, 'careful', 7);
  const slow = {
    mock: {
      steps: [
        { text: 'one', tool: 'current_time' },
        { text: 'two', delay_ms: 5_000 },
      ],
    },
  };
  const body = { agent_id: facts.agents.busy, message: 'slow', payload: slow };
  const executing = await must(api.post('/work-items', { ...body, work_item_name: 'executing' }));
  facts.workItems.executing = executing.id;
  await until(
    async () => (await must(api.get(`/work-items/${executing.id}/messages`))).data.length > 2,
    20_000,
  );
  const pending = await must(api.post('/work-items', { ...body, payload: {}, work_item_name: 'pending' }));
  facts.workItems.pending = pending.id;
};
