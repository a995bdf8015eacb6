import { describe, expect, test } from 'vitest';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { faults, ok, onPostgres, unknownId } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  const create = (fields: object = {}) => at().api.post('/agents', { name: 'A', mode: 'worker', ...fields });
  const execute = async (agent: Json, steps: unknown[], status: string): Promise<Json> => {
    const item = await ok(at().api.post('/work-items', { agent_id: agent.id, payload: { mock: { steps } } }));
    return becomes(item.id, status);
  };
  const becomes = (id: string, status: string): Promise<Json> =>
    until(async () => {
      const item = await ok(at().api.get(`/work-items/${id}`));
      return item.status === status && item;
    }, 15_000);

  describe('the runtime fields of an agent', () => {
    test('are kept, changed and reset', async () => {
      const { id: llm } = await ok(at().api.post('/llm-configurations', { kind: 'mock', name: 'Spare' }));
      const given = {
        fallback_llm_ids: [llm],
        result_schema: { properties: { b: { type: 'string' }, a: { $ref: '#/$defs/a' } }, $defs: { a: {} } },
        approval_role: 'admin',
        settings: { max_tokens: 1_000_000_000, max_output_tokens: 1, tool_concurrency: 16 },
      };
      const agent = await ok(create(given));
      expect(agent).toMatchObject(given);
      expect(Object.keys(agent.result_schema.properties)).toEqual(['b', 'a']);
      const cleared = await ok(
        at().api.patch(`/agents/${agent.id}`, {
          fallback_llm_ids: [],
          result_schema: null,
          approval_role: null,
          settings: { max_tokens: null, max_output_tokens: null, tool_concurrency: null },
        }),
      );
      expect(cleared).toMatchObject({
        fallback_llm_ids: [],
        result_schema: null,
        approval_role: 'builder',
        settings: { max_tokens: null, max_output_tokens: null, tool_concurrency: 4 },
      });
      expect((await ok(create({ mode: 'conversational' }))).approval_role).toBe('member');
    });

    test.each<[number, string, object]>([
      [422, 'fallback_llm_ids[0]', { fallback_llm_ids: [unknownId] }],
      [422, 'fallback_llm_ids', { fallback_llm_ids: [unknownId, unknownId, unknownId, unknownId] }],
      [
        422,
        'tool_policies[0].tool_server_id',
        { tool_policies: [{ tool_server_id: unknownId, tool: 't', policy: 'deny' }] },
      ],
      [
        422,
        'tool_policies',
        { tool_policies: Array(501).fill({ tool_server_id: unknownId, tool: 't', policy: 'deny' }) },
      ],
      [422, 'result_schema', { result_schema: { $ref: 'https://example.com/schema.json' } }],
      [422, 'result_schema', { result_schema: { type: 'array' } }],
      [422, 'result_schema', { result_schema: { type: 'object', properties: { a: { type: 'nonsense' } } } }],
      [422, 'result_schema', { result_schema: { description: 'x'.repeat(32_769) } }],
      [422, 'approval_role', { approval_role: 'owner' }],
      [422, 'settings.max_tokens', { settings: { max_tokens: 0 } }],
      [422, 'settings.tool_concurrency', { settings: { tool_concurrency: 17 } }],
      [400, '', { mode: 'conversational', result_schema: { type: 'object' } }],
    ])('are refused with %i: %s', async (status, path, fields) => {
      const response = await create(fields);
      expect(response.status).toBe(status);
      if (status === 422) expect(JSON.stringify(faults(response))).toContain(path);
    });
  });

  describe('tools of a tool server', () => {
    const connect = async (server: { url: string }, fields: object = {}): Promise<Json> => {
      const prefix = `s${Math.random().toString(36).slice(2, 8)}`;
      const row = await ok(at().api.post('/tool-servers', { name: 'S', prefix, url: server.url, ...fields }));
      const agent = await ok(create({ tool_server_ids: [row.id] }));
      return { row, agent, name: (tool: string) => `${prefix}__${tool}` };
    };
    const add = {
      name: 'add',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    };

    test('are called by their policy, and the edited arguments arrive once', async () => {
      await using server = await startToolServer({ tools: [add] });
      const { agent, name, row } = await connect(server);
      const item = await execute(agent, [{ tools: [{ tool: name('add'), args: { n: 1 } }] }], 'NEEDS_REVIEW');
      expect(server.calls).toEqual([]);
      const [asked] = item.pending_approvals;
      expect(asked).toMatchObject({ kind: 'tool_call', tool_name: name('add'), tool_server_id: row.id });
      const decide = (args: unknown) =>
        at().api.post(`/work-items/${item.id}/continue`, {
          decisions: [{ approval_id: asked.approval_id, decision: 'approve', arguments: args }],
        });
      expect((await decide({ n: 'one' })).status).toBe(422);
      await ok(decide({ n: 2 }));
      const done = await becomes(item.id, 'COMPLETED');
      expect(server.calls.map(({ args }) => args)).toEqual([{ n: 2 }]);
      expect(done.usage).toMatchObject({ tool_calls: 1 });
      // The agent's own policy comes before the default of the server.
      const tool_policies = [{ tool_server_id: row.id, tool: 'add', policy: 'allow' }];
      await ok(at().api.patch(`/agents/${agent.id}`, { tool_policies }));
      await execute(agent, [{ tool: name('add'), args: { n: 3 } }], 'COMPLETED');
      expect(server.calls).toHaveLength(2);
    });

    test('whose definition changed are asked about as they are now, and made once that is accepted', async () => {
      await using server = await startToolServer({ tools: [add] });
      const { agent, name, row } = await connect(server);
      const steps = [{ tool: name('add'), args: { n: 1 } }];
      const before = await execute(agent, steps, 'NEEDS_REVIEW');
      const approve = ({ id, pending_approvals: [{ approval_id }] }: Json) =>
        ok(
          at().api.post(`/work-items/${id}/continue`, { decisions: [{ approval_id, decision: 'approve' }] }),
        );
      const inputSchema = { ...add.inputSchema, description: 'adds' };
      server.tools = [{ ...add, inputSchema }];
      await ok(at().api.post(`/tool-servers/${row.id}/discover`));
      await approve(before);
      const asked = await until(async () => {
        const item = await ok(at().api.get(`/work-items/${before.id}`));
        const [now] = item.pending_approvals;
        return now !== undefined && now.approval_id !== before.pending_approvals[0].approval_id && item;
      });
      expect(asked).toMatchObject({
        status: 'NEEDS_REVIEW',
        pending_approvals: [{ tool_server_id: row.id, input_schema: inputSchema }],
      });
      const path = `/tool-servers/${row.id}/tools`;
      const [{ definition_hash }] = (await ok(at().api.get(path))).data;
      await ok(at().api.post(`${path}/add/accept`, { definition_hash }));
      expect(server.calls).toEqual([]);
      await approve(asked);
      await becomes(asked.id, 'COMPLETED');
      expect(server.calls).toHaveLength(1);
    });

    test('without an answer make the Work Item INDETERMINATE', async () => {
      await using server = await startToolServer({ tools: [{ ...add, wire: () => 'reset' }] });
      const { agent, name } = await connect(server, { default_policy: 'allow' });
      const item = await execute(agent, [{ tool: name('add'), args: { n: 1 } }], 'INDETERMINATE');
      expect(item).toMatchObject({
        error: { code: 'tool_outcome_unknown' },
        pending_approvals: [{ kind: 'unknown_outcome', arguments: { n: 1 } }],
      });
      expect(server.calls).toHaveLength(1);
    });

    test('of a server that refuses access are an ERROR at once', async () => {
      await using server = await startToolServer({ tools: [add] });
      server.status = 401;
      const { agent } = await connect(server);
      const item = await execute(agent, [], 'ERROR');
      expect(item).toMatchObject({ attempts: 1, error: { code: 'tool_server_unauthorized' } });
    });

    test('that a server begins to refuse after its discovery are an ERROR, and a person continues', async () => {
      const refused = { ...add, wire: (n: number) => (n === 0 ? { status: 403 } : undefined) };
      await using server = await startToolServer({ tools: [refused] });
      const { agent, name } = await connect(server, { default_policy: 'allow' });
      const call = { tool: name('add'), args: { n: 1 } };
      const item = await execute(agent, [{ tools: [call, { tool: 'current_time' }] }, call], 'ERROR');
      expect(item).toMatchObject({ attempts: 1, error: { code: 'tool_server_unauthorized' } });
      await ok(at().api.post(`/work-items/${item.id}/continue`, {}));
      await becomes(item.id, 'COMPLETED');
      expect(server.calls).toHaveLength(2);

      server.status = 401;
      const later = await execute(agent, [call], 'ERROR');
      expect(later).toMatchObject({ attempts: 1, error: { code: 'tool_server_unauthorized' } });
    });
  });

  test('a result by schema is JSON, and its budget is not exceeded', async () => {
    const result_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const agent = await ok(create({ result_schema }));
    const steps = [
      { tool: 'submit_result', args: { n: 'x' } },
      { tool: 'submit_result', args: { n: 4 } },
    ];
    const done = await execute(agent, steps, 'COMPLETED');
    expect(done).toMatchObject({ result: { n: 4 }, model: 'mock' });
    expect((await execute(agent, [{ text: 'no' }], 'ERROR')).error.code).toBe('result_invalid');
    await ok(at().api.patch(`/agents/${agent.id}`, { settings: { max_tokens: 15 } }));
    const spent = await execute(agent, steps, 'ERROR');
    expect(spent).toMatchObject({ error: { code: 'max_tokens' }, usage: { model_calls: 0 } });
  });

  test('a budget of tokens begins again when a person continues or restarts the Work Item', async () => {
    const agent = await ok(create({ settings: { max_tokens: 60, max_steps: 100 } }));
    const steps = Array.from({ length: 50 }, () => ({ tool: 'current_time' }));
    const spent = await execute(agent, steps, 'ERROR');
    expect(spent).toMatchObject({ error: { code: 'max_tokens' }, attempts: 1 });
    const calls = spent.usage.model_calls;
    expect(calls).toBeGreaterThan(0);
    await ok(at().api.post(`/work-items/${spent.id}/continue`));
    const again = await until(async () => {
      const item = await ok(at().api.get(`/work-items/${spent.id}`));
      return item.status === 'ERROR' && item;
    });
    expect(again.error.code).toBe('max_tokens');
    expect(again.usage.model_calls).toBeGreaterThan(calls);
    await ok(at().api.post(`/work-items/${spent.id}/restart`));
    const restarted = await becomes(spent.id, 'ERROR');
    expect(restarted.usage).toEqual(spent.usage);
  });
});
