import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client } from '../harness/http.ts';
import { expectError, newAgent, newKey, newSchedule, ok, onPostgres, query } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('the search over everything', () => {
  onPostgres((at) => {
    const search = async (q: string, by: Client = at().app): Promise<Json[]> =>
      (await ok(by.get(`/search?q=${encodeURIComponent(q)}`))).data;
    const kinds = async (q: string, by?: Client) => (await search(q, by)).map(({ kind }) => kind);
    const as = async (role: string, more: object = {}): Promise<Client> =>
      at().as((await newKey(at(), role, { name: `by ${role}`, ...more })).value, '/app/api');

    test('finds each kind by its name, with what its link needs', async () => {
      const agent = await newAgent(at(), { name: 'Zebra clerk', execution: 'external' });
      const schedule = await newSchedule(at(), agent.id, {
        cron_expression: '0 9 * * *',
        timezone: 'Europe/Berlin',
        work_item_name: 'The zebra report',
      });
      const unnamed = await newSchedule(at(), agent.id, { cron_expression: '5 9 * * *' });
      const item = await ok(
        at().api.post('/work-items', { agent_id: agent.id, work_item_name: 'Zebra of Monday' }),
      );
      const settings = {
        provider: 'otlp_basic_auth',
        url: 'https://collector.example.com/v1/traces',
        username: 'u',
        password: 'p',
        trace_ui_type: 'span_ui',
      };
      const integration = await ok(
        at().app.post('/integrations', { settings, description: 'Zebra traces', version: '1' }),
        201,
      );
      const llm = await ok(at().api.post('/llm-configurations', { name: 'Zebra model', kind: 'mock' }));
      const connection = newId();
      await query(
        at(),
        sql`insert into data_connections (id, name, engine, settings, created_by)
          values (${connection}, 'Zebra shop', 'sqlite', 'sealed', 'x')`,
      );
      const model = newId();
      await query(
        at(),
        sql`insert into semantic_data_models
            (id, name, data_connection_id, semantic_model, verified_queries, validation, created_by)
          values (${model}, 'Zebra sales', ${connection}, '{}', '[]', '{}', 'x')`,
      );
      const key = await newKey(at(), 'member', { name: 'Pods of the zebra' });
      expect(await search('zebra')).toEqual([
        { kind: 'agent', id: agent.id, title: 'Zebra clerk', detail: 'worker', agent_id: null },
        {
          kind: 'schedule',
          id: unnamed.id,
          title: 'Zebra clerk',
          detail: 'Zebra clerk, 5 9 * * * UTC',
          agent_id: agent.id,
        },
        {
          kind: 'schedule',
          id: schedule.id,
          title: 'The zebra report',
          detail: 'Zebra clerk, 0 9 * * * Europe/Berlin',
          agent_id: agent.id,
        },
        {
          kind: 'work_item',
          id: item.id,
          title: 'Zebra of Monday',
          detail: 'PENDING, Zebra clerk',
          agent_id: null,
        },
        {
          kind: 'integration',
          id: integration.id,
          title: 'Zebra traces',
          detail: 'otlp_basic_auth',
          agent_id: null,
        },
        { kind: 'llm_configuration', id: llm.id, title: 'Zebra model', detail: 'mock, mock', agent_id: null },
        { kind: 'data_connection', id: connection, title: 'Zebra shop', detail: 'sqlite', agent_id: null },
        {
          kind: 'semantic_data_model',
          id: model,
          title: 'Zebra sales',
          detail: 'Zebra shop',
          agent_id: null,
        },
        { kind: 'api_key', id: key.id, title: 'Pods of the zebra', detail: key.prefix, agent_id: null },
      ]);
      expect(await search(key.prefix)).toEqual([expect.objectContaining({ kind: 'api_key', id: key.id })]);
      // Each kind by what its caller may read.
      expect(await kinds('zebra', await as('member'))).toEqual([
        'agent',
        'schedule',
        'schedule',
        'work_item',
      ]);
      expect(await kinds('zebra', await as('builder'))).toEqual([
        'agent',
        'schedule',
        'schedule',
        'work_item',
        'llm_configuration',
        'data_connection',
        'semantic_data_model',
      ]);
      expect(await kinds('zebra', await as('admin', { scopes: ['schedules:read', 'llm'] }))).toEqual([
        'schedule',
        'schedule',
        'llm_configuration',
      ]);
      expect(await kinds('by member', await as('member'))).toEqual([]);
    });

    test('finds Work Items of any status by the beginning of name and id', async () => {
      const agent = await newAgent(at(), { name: 'Finder', execution: 'external' });
      const create = (work_item_name: string, more: object = {}) =>
        ok(at().api.post('/work-items', { agent_id: agent.id, work_item_name, ...more }));
      const waiting = await create('Quagga 100% done');
      const draft = await create('QUAGGA draft', { draft: true });
      const cancelled = await create('quagga');
      await ok(at().api.post(`/work-items/${cancelled.id}/cancel`));
      await create('No quagga');
      const ids = async (q: string) =>
        (await search(q)).filter(({ kind }) => kind === 'work_item').map(({ id }) => id);
      expect(await ids('quagga')).toEqual([cancelled.id, draft.id, waiting.id]);
      expect(await ids('Quagga 100%')).toEqual([waiting.id]);
      expect(await ids('quagga_')).toEqual([]);
      expect(await ids(draft.id.toUpperCase())).toEqual([draft.id]);
      expect(await ids(draft.id.slice(0, 25))).toContain(draft.id);
      expect((await search(draft.id))[0]).toMatchObject({ title: 'QUAGGA draft', detail: 'DRAFT, Finder' });
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      expect((await search(waiting.id))[0].detail).toBe('CANCELLED');
    });

    test('of more than five the best come first: those that begin with the text, newest first', async () => {
      const names = ['an okapi', 'okapi 1', 'okapi 2', 'the okapi', 'okapi 3', 'okapi 4'];
      for (const name of names) await newAgent(at(), { name, mode: 'conversational' });
      const found = (await search('OKAPI')).filter(({ kind }) => kind === 'agent');
      expect(found.map(({ title }) => title)).toEqual([
        'okapi 4',
        'okapi 3',
        'okapi 2',
        'okapi 1',
        'the okapi',
      ]);
    });

    test('finds settings by name and description, for admins', async () => {
      expect((await search('max schedules')).map(({ id }) => id)).toEqual(['MAX_SCHEDULES_PER_AGENT']);
      expect(await kinds('undelivered telemetry')).toEqual(['setting', 'setting']);
      expect(await kinds('max schedules', await as('builder'))).toEqual([]);
    });

    test('finds a tool server, and a key of one’s own by its first characters', async () => {
      await ok(at().api.post('/tool-servers', { name: 'Gnu', url: 'https://tools.example.com/mcp' }));
      expect(await kinds('gnu', await as('builder'))).toEqual(['tool_server']);
      expect(await kinds('gnu', await as('member'))).toEqual([]);
      const { value } = await newKey(at(), 'member');
      const member = at().as(value, '/app/api');
      const own = await ok(at().as(value).post('/api-keys', { name: 'own', role: 'member' }), 201);
      expect((await search(own.prefix, member)).map(({ id }) => id)).toEqual([own.id]);
      expect(await search(value.slice(0, own.prefix.length), member)).toEqual([]);
    });

    test('says what is wrong with the text', async () => {
      expectError(await at().app.get('/search'), 400);
      expectError(await at().app.get('/search?q=%20'), 422);
      expectError(await at().app.get(`/search?q=${'x'.repeat(201)}`), 422);
    });
  });
});
