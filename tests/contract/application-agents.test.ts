import { describe, expect, test } from 'vitest';
import type { Client } from '../harness/http.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { newAgent, newKey, newSchedule, ok, onPostgres, setSettings, time } from './fixture.ts';
import { examples } from './integrations-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const spanOf = (agentId: string) => ({
  resource: { attributes: [{ key: 'gen_ai.agent.id', value: { stringValue: agentId } }] },
  scopeSpans: [{ spans: [{ traceId: 'aa'.repeat(16), spanId: 'bb'.repeat(8), name: 's' }] }],
});

describe('agents with what they do', () => {
  onPostgres((at) => {
    const list = async (search = ''): Promise<Json[]> => (await ok(at().app.get(`/agents${search}`))).data;
    const overview = (id: string) => ok(at().app.get(`/agents/${id}/overview`));
    /** Inserts `n` Work Items of an agent without the API. */
    const items = (agent: string, n: number, status: string, ended: string | null = null) =>
      at()
        .sql`insert into work_items (id, conversation_id, agent_id, message, payload, status, created_by, finished_at,
            lease_expires_at)
          select gen_random_uuid(), gen_random_uuid(), ${agent}, '', '{}', ${status}, 'test',
            platform_now() - ${ended}::interval,
            case when ${status} = 'EXECUTING' then platform_now() + interval '1 hour' end
          from generate_series(1, ${n}::int)`;
    /** An agent whose Work Items no worker of the platform takes. */
    const newOne = (name: string) => newAgent(at(), { name, execution: 'external' });

    test('counts open Work Items by status, and what ended in the last 24 hours', async () => {
      const agent = await newOne('Ledger clerk');
      const other = await newOne('House keeping');
      await items(agent.id, 3, 'PENDING');
      await at().sql`update work_items set not_before = platform_now() + interval '1 hour' where id =
          (select id from work_items where agent_id = ${agent.id} limit 1)`;
      const open = { EXECUTING: 2, NEEDS_REVIEW: 1, INDETERMINATE: 2, DRAFT: 1 };
      for (const [status, n] of Object.entries(open)) await items(agent.id, n, status);
      for (const [n, status, ago] of [
        [4, 'COMPLETED', '1 hour'],
        [1, 'COMPLETED', '25 hours'],
        [2, 'ERROR', '23 hours'],
        [1, 'ERROR', '2 days'],
        [1, 'CANCELLED', '1 minute'],
      ] as const) {
        await items(agent.id, n, status, ago);
      }
      const [first, second] = await list();
      expect(first).toMatchObject({ id: other.id, failed_24h: 0, done_24h: 0 });
      expect(second).toEqual({
        id: agent.id,
        name: 'Ledger clerk',
        description: null,
        mode: 'worker',
        execution: 'external',
        llm: { id: expect.any(String), name: expect.any(String), model: 'mock', is_default: true },
        open: { ...open, PENDING: 3 },
        done_24h: 4,
        failed_24h: 2,
        schedules: { total: 0, enabled: 0, next_run_at: null },
        cost: { last_24h: 0, last_30d: 0 },
        created_at: agent.created_at,
        updated_at: agent.updated_at,
      });
      const more = { last_span_at: null, conversations: 0, integrations: [] };
      expect(await overview(agent.id)).toEqual({ ...second, ...more });
      await items(agent.id, 1_500, 'PENDING');
      expect((await list())[1].open.PENDING).toBe(1_000);
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      await ok(at().api.delete(`/agents/${other.id}`), 204);
    });

    test('counts schedules, and says when the next one runs', async () => {
      const agent = await newOne('Minute report');
      const first = await newSchedule(at(), agent.id, { cron_expression: '0 9 * * *' });
      const paused = await newSchedule(at(), agent.id, { cron_expression: '*/5 * * * *' });
      await ok(at().app.post(`/agents/${agent.id}/schedules/${paused.id}/pause`));
      const { next_run_at } = first;
      expect((await overview(agent.id)).schedules).toEqual({ total: 2, enabled: 1, next_run_at });
    });

    test('is searched by a part of the name and the beginning of the id, and filtered by mode', async () => {
      const worker = await newOne('Night %_clerk');
      const talker = await newAgent(at(), { name: 'NIGHT porter', mode: 'conversational' });
      const found = async (search: string) => (await list(search)).map(({ id }) => id);
      expect(await found('?q=night')).toEqual([talker.id, worker.id]);
      expect(await found('?q=%25_')).toEqual([worker.id]);
      expect(await found('?q=night&mode=worker')).toEqual([worker.id]);
      expect(await found(`?q=${worker.id.toUpperCase()}`)).toEqual([worker.id]);
      expect(await found(`?q=${talker.id.slice(0, 20)}`)).toContain(talker.id);
      expect(await found('?q=no such agent')).toEqual([]);
      const { next } = await ok(at().app.get('/agents?q=night&limit=1'));
      expect(await found(`?q=night&limit=1&next=${next}`)).toEqual([worker.id]);
    });

    test('the second request of a page that polls is 304 until something happens', async () => {
      const agent = await newOne('Polled');
      for (const path of ['/agents?q=polled', `/agents/${agent.id}/overview`]) {
        const etag = (await at().app.get(path)).headers.get('etag')!;
        const again = () => at().app.get(path, { headers: { 'if-none-match': etag } });
        expect((await again()).status).toBe(304);
        await items(agent.id, 1, 'DRAFT');
        expect((await again()).status).toBe(200);
      }
    });

    test('a builder sees the model, by default too; a member does not, and neither sees integrations', async () => {
      const llm = await ok(at().api.post('/llm-configurations', { name: 'Own', kind: 'mock' }));
      const agent = await newAgent(at(), { name: 'Modelled', llm_id: llm.id, model: 'special' });
      const seen = async (role: string, more: object = {}) => {
        const { value } = await newKey(at(), role, more);
        return ok(at().as(value, '/app/api').get(`/agents/${agent.id}/overview`));
      };
      expect(await seen('builder')).toMatchObject({
        llm: { id: llm.id, name: 'Own', model: 'special', is_default: false },
        integrations: null,
      });
      expect(await seen('member')).toMatchObject({ llm: null, integrations: null });
      expect(await seen('admin', { scopes: ['agents'] })).toMatchObject({ llm: null, integrations: null });
    });

    test('what agents can be given is one list of names, without what a key may not read', async () => {
      await using server = await startToolServer();
      const servers: Json[] = [];
      for (const name of ['beta', 'Alpha']) {
        servers.push(await ok(at().api.post('/tool-servers', { name, url: server.url })));
      }
      const read = async (client: Client) => ok(client.get('/agent-tools'));
      expect(await read(at().app)).toEqual({
        tool_servers: [servers[1], servers[0]].map(({ id, name }) => ({ id, name })),
        semantic_data_models: [],
      });
      const limited = (await newKey(at(), 'builder', { scopes: ['agents'] })).value;
      expect((await read(at().as(limited, '/app/api'))).semantic_data_models).toBeNull();
    });

    test('names the integrations that get its spans', async () => {
      const agent = await newOne('Traced');
      const create = async (description: string) => {
        const settings = examples.otlp_basic_auth;
        return ok(at().app.post('/integrations', { settings, description, version: '1' }), 201);
      };
      const [all, own, none] = [await create('All'), await create('Own'), await create('None')];
      const scopes = (id: string) => `/observability/integrations/${id}/scopes`;
      for (const { id } of [own, none]) await at().api.delete(`${scopes(id)}?scope=global`);
      await ok(at().api.post(scopes(own.id), { scope: 'agent', agent_id: agent.id }), 201);
      expect((await overview(agent.id)).integrations).toEqual([
        { id: own.id, provider: 'otlp_basic_auth', description: 'Own', is_enabled: true, scope: 'agent' },
        { id: all.id, provider: 'otlp_basic_auth', description: 'All', is_enabled: true, scope: 'global' },
      ]);
      for (const { id } of [all, own, none]) await at().api.delete(`/observability/integrations/${id}`);
    });

    test('waits for the first span that comes in; those of the platform itself do not count', async () => {
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 0 });
      const agent = await newAgent(at(), { name: 'Connected' });
      const { id } = await ok(at().api.post('/work-items', { agent_id: agent.id }));
      await expect.poll(async () => (await ok(at().api.get(`/work-items/${id}`))).status).toBe('COMPLETED');
      expect((await overview(agent.id)).last_span_at).toBeNull();
      await ok(at().test.api.post('/telemetry/v1/traces', { resourceSpans: [spanOf(agent.id)] }));
      await expect.poll(async () => (await overview(agent.id)).last_span_at).toMatch(time);
    });
  });
});
