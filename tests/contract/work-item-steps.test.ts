import { expect, test } from 'vitest';
import { protocols, startProvider } from '../harness/providers/index.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newAgent, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  const create = (agent: Json, steps: unknown[] = []): Promise<Json> =>
    ok(at().api.post('/work-items', { agent_id: agent.id, payload: { mock: { steps } } }));
  const becomes = (id: string, status: string): Promise<Json> =>
    until(async () => {
      const item = await ok(at().api.get(`/work-items/${id}`));
      return item.status === status && item;
    }, 15_000);
  const stepsOf = async (id: string): Promise<Json[]> =>
    (await ok(at().app.get(`/work-items/${id}/steps`))).data;
  const traceOf = async (id: string): Promise<string> =>
    (await ok(at().api.get(`/work-items/${id}/trace`))).trace_id;
  const failing = async (name: string) => {
    const { kind, settings } = protocols.openai_compatible!;
    const provider = await startProvider(protocols.openai_compatible!, () => ({ status: 503 }));
    const llm = { kind, name, model: name, base_url: provider.url, ...settings };
    return { provider, id: (await ok(at().api.post('/llm-configurations', llm))).id as string };
  };

  test('an attempt has its calls, its trace and what it used; then comes what it waits for', async () => {
    const agent = await newAgent(at());
    const asks = { tool: 'request_review', args: { reason: 'sure?' } };
    const { id } = await create(agent, [{ tool: 'current_time' }, asks]);
    const item = await becomes(id, 'NEEDS_REVIEW');
    const [attempt, first, tool, second, review, wait] = await stepsOf(id);
    expect(attempt).toMatchObject({ kind: 'attempt', name: 'attempt 1', attempt: 1, parent: null });
    expect(attempt).toMatchObject({
      status: 'ok',
      error: null,
      trace_id: await traceOf(id),
      tokens: item.usage,
    });
    expect(attempt.worker).toMatch(/:\d+$/);
    const parts = { attempt: 1, parent: attempt.seq, status: 'ok', trace_id: null, worker: null };
    expect(first).toMatchObject({ ...parts, kind: 'model', name: 'mock', model: 'mock' });
    expect(second).toMatchObject({ ...parts, kind: 'model', tokens: { output_tokens: expect.any(Number) } });
    expect(tool).toMatchObject({ ...parts, kind: 'tool', name: 'current_time', tokens: null });
    expect(review).toMatchObject({ ...parts, kind: 'tool', name: 'request_review' });
    expect(wait).toMatchObject({ kind: 'review', parent: null, status: 'running', ended_at: null });
    const { data } = await ok(at().api.get(`/work-items/${id}/messages?limit=200`));
    const stored = [first, tool, second].map(({ message_id }) => data.find((m: Json) => m.id === message_id));
    expect(stored.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);

    await ok(at().api.post(`/work-items/${id}/continue`, { message: 'yes' }));
    const done = await becomes(id, 'COMPLETED');
    const [ended, again] = (await stepsOf(id)).filter(({ parent }) => parent === null).slice(1);
    expect(ended).toMatchObject({ kind: 'review', status: 'ok', ended_at: expect.any(String) });
    expect(again.trace_id).toBe(await traceOf(id));
    expect(again.trace_id).not.toBe(attempt.trace_id);
    for (const name of ['input_tokens', 'model_calls', 'tool_calls']) {
      expect(attempt.tokens[name] + again.tokens[name]).toBe(done.usage[name]);
    }
  });

  test('models that take over follow each other, and an attempt that fails before its first call has a trace', async () => {
    await using tools = await startToolServer();
    const first = await failing('first');
    const second = await failing('second');
    await using _first = first.provider;
    await using _second = second.provider;
    const llms = { llm_id: first.id, fallback_llm_ids: [second.id] };
    const agent = await newAgent(at(), { ...llms, settings: { max_attempts: 1 } });
    const { id } = await create(agent);
    await becomes(id, 'ERROR');
    const [attempt, one, other] = await stepsOf(id);
    const failed = { status: 'error', error: 'model_unavailable' };
    expect(attempt).toMatchObject({ ...failed, tokens: { model_calls: 0 } });
    expect(one).toMatchObject({ ...failed, model: 'first' });
    expect(other).toMatchObject({ ...failed, model: 'second' });
    expect(Date.parse(other.started_at)).toBeGreaterThanOrEqual(Date.parse(one.ended_at) - 1);

    tools.status = 401;
    const { id: server } = await ok(
      at().api.post('/tool-servers', { name: 'T', prefix: 'steps', url: tools.url }),
    );
    await ok(at().api.patch(`/agents/${agent.id}`, { tool_server_ids: [server] }));
    await ok(at().api.post(`/work-items/${id}/restart`));
    await until(async () => (await becomes(id, 'ERROR')).error.code === 'tool_server_unauthorized');
    const attempts = (await stepsOf(id)).filter(({ kind }) => kind === 'attempt');
    expect(attempts).toMatchObject([attempt, { status: 'error', error: 'tool_server_unauthorized' }]);
    expect(attempts[1].trace_id).toBe(await traceOf(id));
    expect(attempts[1].trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(attempts[1].trace_id).not.toBe(attempt.trace_id);
  });

  test('the attempts of external workers are there as well', async () => {
    const agent = await newAgent(at(), { execution: 'external' });
    const { id } = await create(agent);
    const claim = { agent_ids: [agent.id], worker: 'the one in the cellar' };
    const [{ lease_token, traceparent }] = (await ok(at().api.post('/work-items/claim', claim))).records;
    const running = { kind: 'attempt', worker: 'the one in the cellar', trace_id: traceparent.split('-')[1] };
    expect(await stepsOf(id)).toMatchObject([{ ...running, status: 'running', tokens: null }]);
    const report = { usage: { input_tokens: 5, output_tokens: 6 }, review: { reason: 'sure?' } };
    await ok(at().api.post(`/work-items/${id}/finish`, { lease_token, outcome: 'NEEDS_REVIEW', ...report }));
    expect(await stepsOf(id)).toMatchObject([
      { ...running, status: 'ok', tokens: { input_tokens: 5, output_tokens: 6 } },
      { kind: 'review', status: 'running' },
    ]);
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
    expect((await stepsOf(id))[1]).toMatchObject({ status: 'ok', ended_at: expect.any(String) });
  });
});
