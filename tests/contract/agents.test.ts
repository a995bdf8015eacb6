import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { serveRoutes } from '../harness/api.ts';
import { eachDatabase } from '../harness/database.ts';
import { testAgents } from '../harness/features.ts';
import { testServices } from '../harness/services.ts';

const deletedAgents: string[] = [];

eachDatabase((_name, open) => {
  let knownLlm: string;
  let api: Awaited<ReturnType<typeof serveRoutes>>;
  beforeAll(async () => {
    const { rows } = await open().run((executor) =>
      sql<{ id: string }>`select id from llm_configurations limit 1`.execute(executor),
    );
    knownLlm = rows[0]!.id;
    const services = testServices(open());
    const agents = testAgents(services);
    agents.onDelete(async (tx, id) => {
      const { rows } = await sql`select 1 from agents where id = ${id}`.execute(tx);
      deletedAgents.push(`${id} ${rows.length}`);
    });
    api = await serveRoutes(open(), agents);
  });
  afterAll(() => api?.close());

  const create = async (body: Record<string, unknown> = {}) => {
    const { status, body: agent } = await api.v2.post('/agents', { name: 'A', mode: 'worker', ...body });
    expect(status).toBe(200);
    return agent;
  };

  describe('create', () => {
    test('responds with 200, the defaults and an ETag', async () => {
      const { status, body, headers } = await api.v2.post('/agents', { name: 'A', mode: 'worker' });
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe('"1"');
      expect(body).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'A',
        description: null,
        mode: 'worker',
        instructions: '',
        llm_id: null,
        model: null,
        fallback_llm_ids: [],
        tool_server_ids: [],
        tool_policies: [],
        semantic_data_model_ids: [],
        execution: 'platform',
        result_schema: null,
        approval_role: 'builder',
        approval_timeout_seconds: null,
        approval_timeout_outcome: 'deny',
        release: 'automatic',
        version: 1,
        latest_version: 1,
        has_changes: false,
        canary: null,
        gate: null,
        callbacks: [],
        settings: {
          max_concurrency: 4,
          max_attempts: 3,
          timeout_seconds: 600,
          max_steps: 20,
          max_tokens: null,
          max_output_tokens: null,
          tool_concurrency: 4,
          approver_not_requester: false,
          builtin_tools: expect.arrayContaining(['current_time', 'request_review']),
        },
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: expect.stringMatching(/Z$/),
      });
      expect((await api.v1.get(`/agents/${body.id}`)).body).toEqual(body);
    });

    test('keeps every field that was given', async () => {
      const given = {
        name: '名'.repeat(200),
        description: 'd',
        mode: 'conversational',
        instructions: 'Do it.',
        llm_id: knownLlm,
        model: 'm',
        settings: { max_concurrency: 1, max_attempts: null, timeout_seconds: 86_400 },
      };
      expect(await create(given)).toMatchObject({
        ...given,
        settings: { ...given.settings, max_attempts: 3 },
      });
    });

    test.each([
      ['llm_id', { llm_id: newId() }],
      ['llm_id', { llm_id: 'nonsense' }],
      ['tool_server_ids[0]', { tool_server_ids: [newId()] }],
      ['semantic_data_model_ids[0]', { semantic_data_model_ids: ['x'] }],
    ])('names %s if it refers to nothing', async (path, fields) => {
      const { status, body } = await api.v2.post('/agents', { name: 'A', mode: 'worker', ...fields });
      expect(status).toBe(422);
      expect(body.error.details).toEqual([{ path, message: expect.any(String) }]);
      if ('llm_id' in fields) expect(body.error.llm_id).toBe(fields.llm_id);
    });
  });

  describe('change', () => {
    test('changes only what it names, merges settings key by key, and resets to the default what is null', async () => {
      const agent = await create({ description: 'd', settings: { max_steps: 7, max_attempts: 9 } });
      const { status, body, headers } = await api.v2.patch(`/agents/${agent.id}`, {
        name: 'B',
        description: null,
        mode: 'worker',
        settings: { max_steps: null, max_concurrency: 2 },
      });
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe('"2"');
      expect(body).toEqual({
        ...agent,
        name: 'B',
        description: null,
        settings: { ...agent.settings, max_steps: 20, max_attempts: 9, max_concurrency: 2 },
        version: 2,
        latest_version: 2,
        updated_at: expect.any(String),
      });
    });

    test('accepts what GET returned', async () => {
      const agent = await create({ llm_id: knownLlm });
      const { status, body } = await api.v2.patch(`/agents/${agent.id}`, agent);
      expect([status, body.llm_id, body.created_at]).toEqual([200, knownLlm, agent.created_at]);
    });

    test('never changes the mode, and checks references and the mode before If-Match', async () => {
      const agent = await create();
      const stale = { headers: { 'if-match': '"7"' } };
      const { status, body } = await api.v2.patch(`/agents/${agent.id}`, { mode: 'conversational' }, stale);
      expect([status, body.error.details[0].path]).toEqual([422, 'mode']);
      expect((await api.v2.patch(`/agents/${agent.id}`, { llm_id: newId() }, stale)).status).toBe(422);
    });

    test('by many clients at once loses none of the changes', async () => {
      const agent = await create();
      const names = ['max_concurrency', 'max_attempts', 'timeout_seconds', 'max_tokens'];
      await Promise.all(
        names.map((name) => api.v2.patch(`/agents/${agent.id}`, { settings: { [name]: 17 } })),
      );
      const { body, headers } = await api.v2.get(`/agents/${agent.id}`);
      expect(names.map((name) => body.settings[name])).toEqual([17, 17, 17, 17]);
      expect(headers.get('etag')).toBe('"5"');
    });
  });

  test('delete responds with 204, then 404, and notifies other features once the agent is gone', async () => {
    const { id } = await create();
    expect((await api.v2.delete(`/agents/${id}`)).status).toBe(204);
    expect((await api.v2.delete(`/agents/${id}`)).status).toBe(404);
    expect(deletedAgents).toContain(`${id} 0`);
  });

  test('every change is audited in its transaction', async () => {
    const { id } = await create();
    await api.v2.patch(`/agents/${id}`, { name: 'B' });
    await api.v2.delete(`/agents/${id}`);
    const rows = await open().run((executor) =>
      executor.selectFrom('audits').select('action').where('target_id', '=', id).orderBy('id').execute(),
    );
    expect(rows.map((row) => row.action)).toEqual(['agent.create', 'agent.update', 'agent.delete']);
  });
});
