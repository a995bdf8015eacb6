import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../packages/otlp/tests/decode.ts';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';
import { newId } from '../../src/lib/ids.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker } from './conversations-fixture.ts';
import { expectError, type Fixture, newAgent, newKey, ok, onEachDatabase } from './fixture.ts';

const second = 1_000_000_000n;
const hex = (bytes: number): string =>
  newId()
    .replaceAll('-', '')
    .slice(-2 * bytes)
    .padStart(2 * bytes, '1');

const send = async (at: Fixture, spans: TestSpan[], service = 'outside'): Promise<number> => {
  const body = encodeRequest([{ attributes: { 'service.name': service }, scopes: [{ spans }] }]);
  expect(decodeProtobuf(body)).toHaveLength(spans.length);
  const response = await fetch(`${at.test.origin}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  });
  return response.status;
};

const stored = (at: Fixture) =>
  until(async () => {
    const state = await ok(at.app.get('/trace-store'));
    expect(state.accepted).toBe(state.stored + state.dropped + state.queued);
    return state.queued === 0 && state;
  });

onEachDatabase((at) => {
  const finished = async (agentId: string, mock: object) => {
    const { id } = await ok(
      at().api.post('/work-items', { agent_id: agentId, message: 'x', payload: { mock } }),
    );
    await until(async () =>
      ['COMPLETED', 'ERROR'].includes((await ok(at().api.get(`/work-items/${id}`))).status),
    );
    const { trace_id } = await ok(at().api.get(`/work-items/${id}/trace`));
    await until(async () => (await at().api.get(`/traces/${trace_id}`)).status === 200);
    return { id, trace_id };
  };

  test('the trace of a Work Item is there within a second, with its agent, models and spans', async () => {
    const agent = await newAgent(at(), { name: 'Traced' });
    const begun = performance.now();
    const { id, trace_id } = await finished(agent.id, { steps: [{ text: 'done' }] });
    expect(performance.now() - begun).toBeLessThan(10_000);
    const [listed, ...others] = (await ok(at().api.get(`/traces?work_item_id=${id}`))).data;
    expect(others).toEqual([]);
    expect(listed).toMatchObject({
      trace_id,
      name: 'invoke_agent Traced',
      agent: { id: agent.id, name: 'Traced' },
      service: 'agent-platform',
      status: 'ok',
      span_count: 2,
      models: ['mock'],
      errors: [],
      work_item_id: id,
    });
    const { spans, ...trace } = await ok(at().api.get(`/traces/${trace_id.toUpperCase()}`));
    expect(trace).toEqual({ ...listed, missing_parents: [], has_more: false, next: '' });
    expect(spans).toMatchObject([
      { type: 'agent', parent_span_id: null, offset_us: 0 },
      { type: 'model', model: 'mock', parent_span_id: spans[0].span_id, has_content: false },
    ]);
    const path = `/traces/${trace_id}/spans/${spans[1].span_id}`;
    const span = await ok(at().api.get(path));
    expect(span).toMatchObject({
      ...spans[1],
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.id': agent.id },
      resource: { 'service.name': 'agent-platform' },
      scope: { name: 'agent-platform' },
    });
    // The step that stored the message of the reply.
    const steps = (await ok(at().app.get(`/work-items/${id}/steps`))).data;
    const step = steps.find(({ kind }: { kind: string }) => kind === 'model');
    expect((await ok(at().api.get(path))).step).toEqual({
      work_item_id: id,
      seq: step.seq,
      message_id: step.message_id,
    });
    expect((await ok(at().api.get(`/traces/${trace_id}/spans/${spans[0].span_id}`))).step).toBeNull();
    // The name is the present one.
    await ok(at().api.patch(`/agents/${agent.id}`, { name: 'Renamed' }));
    expect((await ok(at().api.get(`/traces/${trace_id}`))).agent.name).toBe('Renamed');
  });

  test('a member reads traces of Work Items and of own conversations, and no other', async () => {
    const reading = (role: string, scopes?: string[]) =>
      newKey(at(), role, scopes ? { scopes } : {}).then(({ value }) => at().as(value));
    const [member, builder, scoped, other] = [
      await reading('member'),
      await reading('builder'),
      await reading('builder', ['telemetry:read']),
      await reading('builder', ['work_items']),
    ];
    const talker = (await newTalker(at())).id;
    const traceOf = async (client: Fixture['api']) => {
      const talk = await newConversation(at(), { agentId: talker, client });
      await ok(client.post(`${talk.path}/messages`, { content: 'hello' }));
      const [{ trace_id }] = await at()
        .sql`select trace_id from conversation_runs where conversation_id = ${talk.id}`;
      await until(async () => (await at().api.get(`/traces/${trace_id}`)).status === 200);
      return trace_id;
    };
    const [own, foreign] = [await traceOf(member), await traceOf(at().api)];
    const { id, trace_id } = await finished((await newAgent(at())).id, { steps: [{ text: 'x' }] });
    const received = hex(16);
    // Whatever a span says of itself, it opens no trace of others.
    const claims = { 'agent_platform.work_item.id': id, 'gen_ai.conversation.id': id };
    expect(await send(at(), [{ name: 'a', traceId: received, attributes: claims }])).toBe(200);
    expect(await send(at(), [{ name: 'b', traceId: foreign, attributes: claims }])).toBe(200);
    await stored(at());
    for (const [client, readable] of [
      [member, [own, trace_id]],
      [builder, [own, trace_id, foreign, received]],
      [scoped, [own, trace_id, foreign, received]],
    ] as const) {
      for (const one of [own, trace_id, foreign, received]) {
        const response = await client.get(`/traces/${one}`);
        expect(response.status).toBe(readable.includes(one) ? 200 : 404);
        const span = (await ok(at().api.get(`/traces/${one}`))).spans[0].span_id;
        expect((await client.get(`/traces/${one}/spans/${span}`)).status).toBe(response.status);
      }
    }
    expectError(await member.get('/traces'), 403);
    expectError(await member.delete('/traces'), 403);
    expectError(await builder.delete('/traces'), 403);
    expectError(await other.get('/traces'), 403);
    expectError(await other.get(`/traces/${trace_id}`), 403);
    expect((await scoped.get('/traces')).status).toBe(200);
    for (const odd of ['x', '1'.repeat(31), 'g'.repeat(32), newId(), '0'.repeat(32)]) {
      expectError(await builder.get(`/traces/${odd}`), 404);
    }
    for (const odd of ['x', '1'.repeat(16)])
      expectError(await builder.get(`/traces/${trace_id}/spans/${odd}`), 404);
    // The Work Item is gone, and with it the reason to read its trace.
    await at().sql`delete from work_items where id = ${id}`;
    expectError(await member.get(`/traces/${trace_id}`), 404);
    expect(
      (
        await at()
          .as((await newKey(at(), 'member')).value, '/app/api')
          .get('/trace-store')
      ).status,
    ).toBe(403);
  });

  test('received traces are listed by pages in each order, and a span that comes twice shows once', async () => {
    const model = `m-${hex(4)}`;
    const start = BigInt(Date.now()) * 1_000_000n;
    const traces = Array.from({ length: 7 }, (_, i) => ({
      traceId: hex(16),
      spanId: hex(8),
      name: `t${i}`,
      start: start + BigInt(i) * second,
      end: start + BigInt(i) * second + BigInt((i * 3) % 7) * second,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': model,
        'agent_platform.cost.nano_usd': (i * 5) % 7,
      },
    }));
    await send(at(), traces);
    await stored(at());
    await send(at(), traces);
    await stored(at());
    const namesBy = async (sort: string): Promise<string[]> => {
      const names: string[] = [];
      for (let next = ''; ; ) {
        const page = await ok(at().api.get(`/traces?model=${model}&sort=${sort}&limit=3&next=${next}`));
        names.push(...page.data.map(({ name }: { name: string }) => name));
        expect(page.data.every(({ span_count }: { span_count: number }) => span_count === 1)).toBe(true);
        if (!page.has_more) return names;
        next = page.next;
      }
    };
    const orderBy = (key: (i: number) => number) =>
      [0, 1, 2, 3, 4, 5, 6].sort((a, b) => key(b) - key(a)).map((i) => `t${i}`);
    expect(await namesBy('time')).toEqual(orderBy((i) => i));
    expect(await namesBy('duration')).toEqual(orderBy((i) => (i * 3) % 7));
    expect(await namesBy('cost')).toEqual(orderBy((i) => (i * 5) % 7));
    const trace = await ok(at().api.get(`/traces/${traces[0]!.traceId}`));
    expect(trace).toMatchObject({
      span_count: 1,
      spans: [{ span_id: traces[0]!.spanId }],
      missing_parents: [],
    });
    // The order of another sort is no position in this one.
    const { next } = await ok(at().api.get('/traces?sort=cost&limit=1'));
    expectError(await at().api.get(`/traces?next=${next}`), 422, /next/);
  });

  test('the spans of a trace come by pages, and parents that are not among them are named', async () => {
    const traceId = hex(16);
    const [missing, ...ids] = Array.from({ length: 8 }, () => hex(8));
    await send(
      at(),
      ids.map((spanId, i) => ({
        traceId,
        spanId,
        parentSpanId: missing!,
        name: `${i}`,
        start: second * BigInt(10 + i),
      })),
    );
    await stored(at());
    const names: string[] = [];
    for (let next = ''; ; ) {
      const page = await ok(at().api.get(`/traces/${traceId}?limit=3&next=${next}`));
      expect(page).toMatchObject({ span_count: 7, missing_parents: [missing] });
      names.push(...page.spans.map(({ name }: { name: string }) => name));
      if (!page.has_more) break;
      next = page.next;
    }
    expect(names).toEqual(ids.map((_id, i) => `${i}`));
    expectError(await at().api.get(`/traces/${traceId}?limit=10001`), 422, /limit/);
  });

  test('TRACE_STORE decides which spans are kept from the next one on', async () => {
    const set = (TRACE_STORE: string) => ok(at().api.patch('/advanced-settings', { TRACE_STORE }));
    const spansOf = async (value: string): Promise<string[]> => {
      await set(value);
      const before = await stored(at());
      expect(before.state).toBe(value === 'off' ? 'off' : 'on');
      const { id } = await ok(
        at().api.post('/work-items', { agent_id: (await newAgent(at())).id, message: 'x' }),
      );
      await until(async () => (await ok(at().api.get(`/work-items/${id}`))).status === 'COMPLETED');
      const traceId = hex(16);
      await send(at(), [{ name: 'received', traceId }]);
      await at().test.platform.features.telemetry.path.flush();
      const { accepted } = await stored(at());
      const { trace_id } = await ok(at().api.get(`/work-items/${id}/trace`));
      const names = [];
      for (const one of [trace_id, traceId]) {
        const { status, body } = await at().api.get(`/traces/${one}`);
        if (status === 200) names.push(...body.spans.map(({ name }: { name: string }) => name.split(' ')[0]));
      }
      expect(accepted > before.accepted).toBe(value !== 'off');
      return [...new Set(names)].toSorted();
    };
    expect(await spansOf('off')).toEqual([]);
    expect(await spansOf('agents')).toEqual(['chat', 'execute_tool', 'invoke_agent', 'received']);
    expect(await spansOf('all')).toEqual(
      expect.arrayContaining(['chat', 'invoke_agent', 'received', 'store']),
    );
    await set('agents');
  });

  test('an admin deletes all traces: they are expired, and the counts go on', async () => {
    await send(at(), [{ name: 'a', traceId: hex(16) }]);
    const before = await stored(at());
    expect(before).toMatchObject({ dropped: 0, last_error: null, oldest_at: expect.any(String) });
    expect(before.bytes).toBeGreaterThan(0);
    const response = await at().api.delete('/traces');
    expect(response.status).toBe(204);
    const after = await stored(at());
    expect(after).toMatchObject({ stored: before.stored, expired: before.stored, oldest_at: null });
    expect((await ok(at().api.get('/traces'))).data).toEqual([]);
    const [entry] = (await ok(at().api.get('/audits?action=traces.delete'))).data;
    expect(entry).toMatchObject({
      action: 'traces.delete',
      details: { spans: before.stored - before.expired },
    });
    const traceId = hex(16);
    await send(at(), [{ name: 'a', traceId }]);
    await stored(at());
    expect((await ok(at().api.get(`/traces/${traceId}`))).span_count).toBe(1);
    const metrics = await (await fetch(`${at().test.origin}/metrics`)).text();
    expect(metrics).toContain(`agent_platform_trace_store_spans{state="stored"} ${after.stored + 1}`);
    expect(metrics).toContain(`agent_platform_trace_store_spans{state="expired"} ${after.expired}`);
    expect(metrics).toMatch(/agent_platform_trace_store_bytes \d+/);
    expect(metrics).not.toContain('integration="0"');
  });
});
