import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { claimWorkItems } from '../../src/work-items/claims.ts';
import { actionNames, allowedActions, nextStatus, statuses } from '../../src/work-items/states.ts';
import { serveRoutes } from '../harness/api.ts';
import { onPostgres } from '../harness/database.ts';
import { testFeatures } from '../harness/features.ts';
import { testServices } from '../harness/services.ts';
import { cancelEverything, force, itemOf, makeAgent } from '../harness/work-items.ts';

onPostgres((_name, open) => {
  let api: Awaited<ReturnType<typeof serveRoutes>>;
  let agent: string;
  beforeAll(async () => {
    const services = testServices(open());
    api = await serveRoutes(open(), testFeatures(services).workItems);
    agent = await makeAgent(open(), { max_concurrency: 1_000 });
  });
  afterAll(() => api?.close());

  const create = async (body: Record<string, unknown> = {}) => {
    const response = await api.v2.post('/work-items', { agent_id: agent, ...body });
    expect(response.status).toBe(200);
    return response.body;
  };
  const act = (id: string, action: string, body?: unknown) =>
    api.v2.post(`/work-items/${id}/${action}`, body);

  describe('create', () => {
    test('responds with 200 and exactly the documented fields', async () => {
      const item = await create();
      expect(item).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        agent_id: agent,
        agent_version: null,
        schedule_id: null,
        scheduled_for: null,
        start_at: null,
        trigger_id: null,
        occurrence_id: null,
        work_item_name: null,
        message: '',
        payload: {},
        status: 'PENDING',
        allowed_actions: ['cancel'],
        result: null,
        error: null,
        review_reason: null,
        review_id: null,
        pending_approvals: [],
        model: null,
        usage: null,
        cost_nano_usd: 0,
        unknown_calls: 0,
        attempts: 0,
        created_by: 'tester',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: expect.stringMatching(/Z$/),
        started_at: null,
        finished_at: null,
        cancel_requested_at: null,
        callbacks: [],
        files: [],
      });
      expect((await api.v1.get(`/work-items/${item.id}`)).body).toEqual(item);
    });

    test('keeps what is sent, and null is the same as leaving a field out', async () => {
      const given = { message: 'm'.repeat(10_000), payload: { a: [1] }, work_item_name: 'N', draft: true };
      const { draft: _draft, ...kept } = given;
      expect(await create(given)).toMatchObject({
        ...kept,
        status: 'DRAFT',
        allowed_actions: ['submit', 'cancel'],
      });
      const nulls = await create({ message: null, payload: null, work_item_name: null, draft: null });
      expect(nulls).toMatchObject({ message: '', payload: {}, work_item_name: null, status: 'PENDING' });
    });

    const big = { b: 'x'.repeat(100 * 1024 - 7) };
    test.each([
      [400, 'no agent_id', { agent_id: undefined }],
      [404, 'an unknown agent', { agent_id: newId() }],
      [404, 'a malformed agent_id', { agent_id: 'x' }],
      [404, 'an unknown agent, before the body', { agent_id: newId(), message: 1 }],
      [422, 'a message of 10,001 characters', { message: 'm'.repeat(10_001) }],
      [422, 'a name of 201 characters', { work_item_name: 'n'.repeat(201) }],
      [200, 'a payload of exactly 100 KB', { payload: { b: big.b.slice(1) } }],
      [400, 'a payload of one byte more', { payload: big }],
      [400, 'a payload that is too large, before other faults', { payload: big, message: 5 }],
    ])('responds with %i to %s', async (status, _what, body) => {
      expect((await api.v2.post('/work-items', { agent_id: agent, ...body })).status).toBe(status);
    });

    test('responds with 400 for a conversational agent', async () => {
      const agent_id = await makeAgent(open(), { mode: 'conversational' });
      const { status, body } = await api.v2.post('/work-items', { agent_id, message: 5 });
      expect([status, body.error.code]).toEqual([400, 'bad_request']);
    });

    test('with one Idempotency-Key creates one Work Item', async () => {
      const options = { headers: { 'idempotency-key': newId() } };
      const responses = await Promise.all(
        [1, 2, 3].map(() => api.v2.post('/work-items', { agent_id: agent }, options)),
      );
      expect(new Set(responses.map((response) => response.body.id)).size).toBe(1);
    });
  });

  describe('list', () => {
    test('has records, total_count and next_offset, newest first', async () => {
      const mine = await makeAgent(open());
      const made: string[] = [];
      for (let i = 0; i < 5; i++) made.push((await create({ agent_id: mine })).id);
      const seen: string[] = [];
      let offset: number | null = 0;
      while (offset !== null) {
        const { body } = await api.v2.get(`/work-items?agent_id=${mine}&limit=2&offset=${offset}`);
        expect(Object.keys(body)).toEqual(['records', 'total_count', 'next_offset']);
        expect(body.total_count).toBe(5);
        seen.push(...body.records.map((item: { id: string }) => item.id));
        offset = body.next_offset;
      }
      expect(seen).toEqual(made.toReversed());
    });

    test('beyond the end is empty and still counts', async () => {
      const mine = await makeAgent(open());
      await create({ agent_id: mine });
      const { body } = await api.v2.get(`/work-items?agent_id=${mine}&offset=10`);
      expect(body).toEqual({ records: [], total_count: 1, next_offset: null });
    });

    test('filters by agent, status and schedule together', async () => {
      const mine = await makeAgent(open());
      const draft = await create({ agent_id: mine, draft: true });
      await create({ agent_id: mine });
      const ids = async (query: string) =>
        (await api.v1.get(`/work-items?agent_id=${mine}${query}`)).body.records.map(
          (r: { id: string }) => r.id,
        );
      expect(await ids('&status=DRAFT')).toEqual([draft.id]);
      expect(await ids('&status=ERROR')).toEqual([]);
      expect(await ids(`&schedule_id=${newId()}`)).toEqual([]);
    });
  });

  describe('every action in every state', () => {
    for (const action of actionNames) {
      for (const from of statuses) {
        const to = nextStatus(action, from);
        test(`${action} while ${from}: ${to ?? '412'}`, async () => {
          const { id } = await create();
          await force(open(), id, from);
          const { status, body } = await act(id, action);
          const { body: events } = await api.v2.get(`/work-items/${id}/events`);
          if (to === undefined) {
            expect(status).toBe(412);
            expect(body.error).toMatchObject({
              code: 'precondition_failed',
              status: from,
              allowed_actions: allowedActions(from),
            });
            expect((await itemOf(open(), id)).status).toBe(from);
            expect(events.data).toHaveLength(1);
          } else {
            expect([status, body.status, body.allowed_actions]).toEqual([200, to, allowedActions(to)]);
            expect(events.data[0]).toMatchObject({ from, to, action, principal: { id: 'tester' } });
            expect(body.finished_at === null).toBe(!['CANCELLED', 'COMPLETED'].includes(to));
          }
        });
      }
    }
  });

  test('a second cancel of an executing Work Item changes nothing and is 200', async () => {
    const { id } = await create();
    await force(open(), id, 'EXECUTING');
    const first = (await act(id, 'cancel')).body;
    expect([first.status, typeof first.cancel_requested_at]).toEqual(['EXECUTING', 'string']);
    const second = await act(id, 'cancel');
    expect([second.status, second.body]).toEqual([200, first]);
    expect((await api.v2.get(`/work-items/${id}/events`)).body.data).toHaveLength(2);
  });

  test('continue adds the message to the conversation; restart begins a new one; both reset the attempts', async () => {
    await cancelEverything(open());
    const { id } = await create();
    await open().tx((tx) => claimWorkItems(tx, { owner: 'w', limit: 1, leaseSeconds: 30 }));
    const { conversation_id } = await itemOf(open(), id);
    await force(open(), id, 'NEEDS_REVIEW');
    expect((await act(id, 'continue', { message: 'go on' })).body.attempts).toBe(0);
    expect((await itemOf(open(), id)).conversation_id).toBe(conversation_id);
    const { body: messages } = await api.v2.get(`/work-items/${id}/messages`);
    expect(messages.data).toMatchObject([
      { conversation_id, role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ]);
    await force(open(), id, 'ERROR');
    expect((await act(id, 'restart')).body).toMatchObject({ attempts: 0, started_at: null, error: null });
    expect((await itemOf(open(), id)).conversation_id).not.toBe(conversation_id);
  });

  test('continue refuses an invalid message before it checks the state', async () => {
    const { id } = await create();
    expect((await act(id, 'continue', { message: 5 })).status).toBe(422);
    expect((await act(id, 'continue', { message: 'm'.repeat(10_001) })).status).toBe(422);
  });

  test('every message is a list of parts, whichever release stored it', async () => {
    const { id } = await create();
    const { conversation_id } = await itemOf(open(), id);
    const call = { tool_call_id: 'c1', tool_name: 'pay', arguments: { amount: 3 } };
    const result = { tool_call_id: 'c1', tool_name: 'pay', text: 'paid', is_error: false };
    const store = (role: string, content: unknown) =>
      open().tx((tx) =>
        sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content)
          values (${newId()}, ${id}, ${conversation_id}, ${role}, ${JSON.stringify(content)}::jsonb)`.execute(
          tx,
        ),
      );
    await store('user', 'hello');
    await store('assistant', { text: '', tool_calls: [{ id: 'c1', name: 'pay', arguments: { amount: 3 } }] });
    await store('tool', result);
    await store('assistant', [
      { type: 'text', text: 'and' },
      { type: 'tool_call', ...call, fault: 'not shown' },
    ]);
    const { body } = await api.v2.get(`/work-items/${id}/messages`);
    expect(body.data.map((m: { content: unknown }) => m.content).toReversed()).toEqual([
      [{ type: 'text', text: 'hello' }],
      [{ type: 'tool_call', ...call }],
      [{ type: 'tool_result', ...result }],
      [
        { type: 'text', text: 'and' },
        { type: 'tool_call', ...call },
      ],
    ]);
  });

  test('messages and events are listed in pages, newest first', async () => {
    const { id } = await create();
    for (let i = 0; i < 4; i++) {
      await force(open(), id, 'ERROR');
      await act(id, 'continue', { message: `m${i}` });
    }
    for (const [path, n] of [
      ['messages', 4],
      ['events', 5],
    ] as const) {
      const { body: all } = await api.v2.get(`/work-items/${id}/${path}`);
      expect([all.data.length, all.has_more, all.next]).toEqual([n, false, '']);
      const { body: first } = await api.v2.get(`/work-items/${id}/${path}?limit=3`);
      const { body: rest } = await api.v2.get(`/work-items/${id}/${path}?limit=3&next=${first.next}`);
      expect([...first.data, ...rest.data]).toEqual(all.data);
    }
    const { body } = await api.v2.get(`/work-items/${id}/messages`);
    const texts = body.data.map((m: { content: { text: string }[] }) => m.content.map((part) => part.text));
    expect(texts).toEqual([['m3'], ['m2'], ['m1'], ['m0']]);
  });

  test('a Work Item without its agent can be read and cancelled, but never runs again', async () => {
    const gone = await makeAgent(open());
    const { id } = await create({ agent_id: gone, draft: true });
    await open().tx((tx) => sql`delete from agents where id = ${gone}`.execute(tx));
    expect((await api.v2.get(`/work-items/${id}`)).body.allowed_actions).toEqual(['cancel']);
    const { status, body } = await act(id, 'submit');
    expect([status, body.error.allowed_actions]).toEqual([412, ['cancel']]);
    expect((await act(id, 'cancel')).status).toBe(200);
  });

  test('actions, events and messages are not in v1', async () => {
    const { id } = await create();
    expect((await api.v1.post(`/work-items/${id}/cancel`)).status).toBe(404);
    expect((await api.v1.get(`/work-items/${id}/events`)).status).toBe(404);
    expect((await api.v1.get(`/work-items/${id}/messages`)).status).toBe(404);
  });

  test('what people do is audited', async () => {
    const { id } = await create();
    await act(id, 'cancel');
    await act(id, 'submit');
    const rows = await open().run((executor) =>
      executor.selectFrom('audits').select('action').where('target_id', '=', id).orderBy('id').execute(),
    );
    expect(rows.map((row) => row.action)).toEqual(['work_item.create', 'work_item.cancel']);
  });
});
