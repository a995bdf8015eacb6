import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import type { Client } from '../harness/http.ts';
import { newChannel } from './channels-fixture.ts';
import { expectError, newAgent, newKey, newSchedule, ok, onPostgres } from './fixture.ts';
import { examples } from './integrations-fixture.ts';

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
      const daily = { cron_expression: '0 9 * * *', timezone: 'Europe/Berlin' };
      const schedule = await newSchedule(at(), agent.id, { ...daily, work_item_name: 'The zebra report' });
      const unnamed = await newSchedule(at(), agent.id, { cron_expression: '5 9 * * *' });
      const work = { agent_id: agent.id, work_item_name: 'Zebra of Monday' };
      const item = await ok(at().api.post('/work-items', work));
      const traces = { settings: examples.otlp_basic_auth, description: 'Zebra traces', version: '1' };
      const integration = await ok(at().app.post('/integrations', traces), 201);
      const llm = await ok(at().api.post('/llm-configurations', { name: 'Zebra model', kind: 'mock' }));
      const connection = newId();
      await at().sql`insert into data_connections (id, name, engine, settings, created_by)
          values (${connection}, 'Zebra shop', 'sqlite', 'sealed', 'x')`;
      const model = newId();
      await at().sql`insert into semantic_data_models
            (id, name, data_connection_id, semantic_model, verified_queries, validation, created_by)
          values (${model}, 'Zebra sales', ${connection}, '{}', '[]', '{}', 'x')`;
      const channel = await newChannel(at(), 'pagerduty', {
        name: 'Zebra duty',
        routing_key: 'k'.repeat(32),
      });
      const rule = await ok(at().api.post('/alert-rules', { name: 'Zebra waits', kind: 'no_scheduler' }));
      const key = await newKey(at(), 'member', { name: 'Pods of the zebra' });
      const times = ['5 9 * * * UTC', '0 9 * * * Europe/Berlin'];
      const rows: [kind: string, { id: string }, title: string, detail: string, agent?: string][] = [
        ['agent', agent, 'Zebra clerk', 'worker'],
        ['schedule', unnamed, 'Zebra clerk', `Zebra clerk, ${times[0]}`, agent.id],
        ['schedule', schedule, 'The zebra report', `Zebra clerk, ${times[1]}`, agent.id],
        ['work_item', item, 'Zebra of Monday', 'PENDING, Zebra clerk'],
        ['integration', integration, 'Zebra traces', 'otlp_basic_auth'],
        ['llm_configuration', llm, 'Zebra model', 'mock, mock'],
        ['data_connection', { id: connection }, 'Zebra shop', 'sqlite'],
        ['semantic_data_model', { id: model }, 'Zebra sales', 'Zebra shop'],
        ['channel', channel, 'Zebra duty', 'pagerduty'],
        ['alert_rule', rule, 'Zebra waits', 'no scheduler'],
        ['api_key', key, 'Pods of the zebra', key.prefix],
      ];
      expect(await search('zebra')).toEqual(
        rows.map(([kind, { id }, title, detail, agent_id = null]) => ({ kind, id, title, detail, agent_id })),
      );
      expect(await search(key.prefix)).toEqual([expect.objectContaining({ kind: 'api_key', id: key.id })]);
      // Each kind by what its caller may read.
      const forMembers = ['agent', 'schedule', 'schedule', 'work_item'];
      expect(await kinds('zebra', await as('member'))).toEqual(forMembers);
      const forBuilders = [
        ...forMembers,
        ...['llm_configuration', 'data_connection', 'semantic_data_model', 'channel', 'alert_rule'],
      ];
      expect(await kinds('zebra', await as('builder'))).toEqual(forBuilders);
      const scopes = ['schedules:read', 'llm'];
      const forScopes = ['schedule', 'schedule', 'llm_configuration'];
      expect(await kinds('zebra', await as('admin', { scopes }))).toEqual(forScopes);
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
      const best = ['okapi 4', 'okapi 3', 'okapi 2', 'okapi 1', 'the okapi'];
      expect(found.map(({ title }) => title)).toEqual(best);
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

    test('needs a text', async () => {
      expectError(await at().app.get('/search'), 400);
      expectError(await at().app.get('/search?q=%20'), 422);
    });
  });
});
