import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { openEventStream } from '../harness/event-stream.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { force } from '../harness/work-items.ts';
import { expectError, newAgent, ok, onPostgres } from './fixture.ts';
import { examples } from './integrations-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  const create = async (steps?: object[], fields: object = {}, agentFields: object = {}) => {
    const agent = await newAgent(at(), agentFields);
    const payload = steps ? { mock: { steps } } : {};
    const item = await ok(at().api.post('/work-items', { agent_id: agent.id, payload, ...fields }));
    const path = `/work-items/${item.id}`;
    return {
      id: item.id as string,
      agent,
      path,
      detail: (): Promise<Json> => ok(at().app.get(path)),
      becomes: (status: string) =>
        until(async () => (await ok(at().api.get(path))).status === status, 10_000),
    };
  };
  const set = (id: string, columns: ReturnType<typeof sql>) =>
    at().sql`update work_items set ${columns} where id = ${id}`;

  describe('GET /app/api/work-items/{id}', () => {
    test('has all that the page shows, in one request', async () => {
      const settings = { ...examples.otlp_basic_auth, url: 'http://127.0.0.1:9/v1/traces' };
      const fields = { settings, version: '1', description: 'Traces' };
      const integration = await ok(at().api.post('/observability/integrations', fields), 201);
      const steps = [{ text: 'Look.', tool: 'current_time' }, { text: 'Done.' }];
      const item = await create(steps, { work_item_name: 'N' });
      await item.becomes('COMPLETED');
      const shown = await item.detail();
      const whole = await ok(at().api.get(item.path));
      const { attempts, ...same } = whole;
      expect(shown).toMatchObject({ ...same, attempt_count: attempts });
      expect(shown).toMatchObject({
        agent: { id: item.agent.id, name: 'tested', exists: true },
        schedule: null,
        source: 'api',
        waiting: null,
        duration_ms: expect.any(Number),
        payload_cut: null,
        result_cut: null,
        max_attempts: 3,
        approval_role: 'builder',
      });
      const [attempt] = shown.attempts;
      expect(shown.attempts).toHaveLength(1);
      const replica = expect.stringMatching(/:\d+$/);
      expect(attempt).toMatchObject({ n: 1, outcome: 'COMPLETED', error: null, replica });
      expect(attempt.usage).toEqual(shown.usage);
      expect(attempt.trace_id).toMatch(/^[0-9a-f]{32}$/);
      const conversation = { id: shown.messages.data[0].conversation_id, n: 1, current: true, messages: 4 };
      expect(shown.conversations).toMatchObject([conversation]);
      expect(shown.links).toEqual([
        {
          trace_id: attempt.trace_id,
          integration_id: integration.id,
          description: 'Traces',
          url: `${settings.trace_view_url}/trace/${attempt.trace_id}`,
        },
      ]);
      expect(shown.messages).toEqual(await ok(at().app.get(`${item.path}/messages`)));
      await ok(at().api.delete(`/observability/integrations/${integration.id}`), 204);
    });

    test('the stream goes on after its last_event_id', async () => {
      const item = await create([
        { text: 'Look.', tool: 'current_time' },
        { tool: 'request_review', args: { reason: 'Sure?' } },
        { text: 'Done.' },
      ]);
      await item.becomes('NEEDS_REVIEW');
      const { last_event_id } = await item.detail();
      const follow = (lastEventId?: number) =>
        openEventStream(`${at().test.origin}/app/api${item.path}/stream`, { key: adminKey, lastEventId });
      const whole = await follow();
      const stream = await follow(last_event_id);
      await ok(at().api.post(`${item.path}/continue`, { message: 'Yes' }));
      await stream.ended;
      await whole.ended;
      expect(stream.events[0]).toMatchObject({
        id: last_event_id + 1,
        event: 'work_item.updated',
        data: { status: 'PENDING' },
      });
      expect(whole.events.at(-1)!.id).toBe((await item.detail()).last_event_id);
    });

    test('a restart begins another conversation, and attempts are counted again', async () => {
      const item = await create([{ fail: 'no' }, { text: 'Done.' }], {}, { settings: { max_attempts: 1 } });
      const ended = (n: number): Promise<Json> =>
        until(async () => {
          const shown = await item.detail();
          return shown.attempts.length === n && shown.attempts.at(-1).ended_at && shown;
        }, 10_000);
      const first = await ended(1);
      await ok(at().api.post(`${item.path}/restart`));
      const shown = await ended(2);
      expect(shown.attempts.map(({ n }: Json) => n)).toEqual([1, 1]);
      expect(shown.conversations.map(({ n, current }: Json) => [n, current])).toEqual([
        [1, false],
        [2, true],
      ]);
      expect(shown.conversations[0].id).toBe(first.conversations[0].id);
      const { data } = await ok(at().app.get(`${item.path}/messages`));
      expect(new Set(data.map((m: Json) => m.attempt))).toEqual(new Set([1]));
    });

    test('a large payload and result are cut, and downloaded whole', async () => {
      const item = await create(undefined, { draft: true });
      const text = 'é'.repeat(200_000);
      await set(
        item.id,
        sql`result = ${JSON.stringify(text)}::jsonb, payload = ${JSON.stringify({ a: 'x'.repeat(300_000) })}::jsonb`,
      );
      const shown = await item.detail();
      expect([shown.result, shown.payload]).toEqual([null, null]);
      expect(shown.result_cut).toEqual({ bytes: 400_000, head: 'é'.repeat(16_384) });
      expect(shown.payload_cut.bytes).toBeGreaterThan(300_000);
      const result = await at().app.get(`${item.path}/result`);
      expect(result.text === text).toBe(true);
      expect(result.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      const payload = await at().app.get(`${item.path}/payload`);
      expect(payload.body.a.length).toBe(300_000);
      expect(payload.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(Number(payload.headers.get('content-length'))).toBe(shown.payload_cut.bytes);
      await set(item.id, sql`result = null`);
      expectError(await at().app.get(`${item.path}/result`), 404);
    });
  });

  describe('messages', () => {
    const append = async (id: string, role: string, content: unknown): Promise<string> => {
      const messageId = newId();
      await at().sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content)
        select ${messageId}, id, conversation_id, ${role}, ${JSON.stringify(content)}::jsonb from work_items where id = ${id}`;
      return messageId;
    };

    test('have their attempt and size; a long content is cut and downloaded whole, or in part', async () => {
      const item = await create(undefined, { draft: true });
      const long = 'ä'.repeat(20_000);
      const call = { id: 'c', name: 'pay', arguments: { note: 'n'.repeat(20_000) } };
      const ids = [
        await append(item.id, 'user', long),
        await append(item.id, 'assistant', { text: long, tool_calls: [] }),
        await append(item.id, 'tool', { text: long, tool_call_id: 'c', tool_name: 'pay', is_error: false }),
        await append(item.id, 'assistant', { text: 'short', tool_calls: [call] }),
        await append(
          item.id,
          'user',
          ['a', long].map((text) => ({ type: 'text', text })),
        ),
        await append(item.id, 'assistant', { text: 'short', tool_calls: [] }),
      ];
      const { data } = await ok(at().app.get(`${item.path}/messages`));
      const shown = data.toReversed();
      expect(shown.map(({ id }: Json) => id)).toEqual(ids);
      expect(shown.map(({ cut }: Json) => cut)).toEqual([true, true, true, true, true, false]);
      expect(shown.map(({ attempt }: Json) => attempt)).toEqual(Array(6).fill(null));
      for (const one of shown.slice(0, 3)) {
        expect(one.content).toMatchObject([{ text: 'ä'.repeat(8_192), cut: true }]);
        expect(one.bytes).toBe(40_000);
      }
      expect(shown[3].content).toMatchObject([{ text: 'short' }, { tool_name: 'pay', cut: true }]);
      expect(shown[4].content[1]).toMatchObject({ cut: true });
      for (const { id, bytes } of shown) {
        const raw = await at().app.get(`${item.path}/messages/${id}/content`);
        expect(Number(raw.headers.get('content-length'))).toBe(bytes);
        expect(raw.headers.get('content-disposition')).toMatch(/^attachment; filename="message-/);
        expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
      }
      expect((await at().app.get(`${item.path}/messages/${ids[0]}/content`)).text).toBe(long);
      expect((await at().app.get(`${item.path}/messages/${ids[3]}/content`)).body[1].arguments).toEqual(
        call.arguments,
      );
    });

    test.each([
      ['bytes=0-1', 206, 'ab', 'bytes 0-1/6'],
      ['bytes=4-', 206, 'ef', 'bytes 4-5/6'],
      ['bytes=4-99', 206, 'ef', 'bytes 4-5/6'],
      ['bytes=-2', 206, 'ef', 'bytes 4-5/6'],
      ['bytes=-99', 206, 'abcdef', 'bytes 0-5/6'],
      ['bytes=6-', 416, '', 'bytes */6'],
      ['bytes=-0', 416, '', 'bytes */6'],
      ['bytes=3-1', 200, 'abcdef', null],
      ['bytes=0-1,3-4', 200, 'abcdef', null],
      ['lines=1-2', 200, 'abcdef', null],
    ])('of the content, %s is %i %j', async (range, status, text, contentRange) => {
      const item = await create(undefined, { draft: true });
      const id = await append(item.id, 'user', 'abcdef');
      const response = await at().app.get(`${item.path}/messages/${id}/content`, { headers: { range } });
      expect([response.status, response.text]).toEqual([status, text]);
      expect(response.headers.get('content-range')).toBe(contentRange);
    });
  });

  describe('why it waits', () => {
    const waiting = async (id: string): Promise<Json> => {
      const [listed] = (await ok(at().app.get(`/work-items?ids=${id}`))).data;
      expect((await ok(at().app.get(`/work-items/${id}`))).waiting).toEqual(listed.waiting);
      return listed.waiting;
    };
    const none = { until: null, ahead: null, slots: null, question: null };

    test('a draft waits to be submitted, and a finished one for nothing', async () => {
      const { id } = await create(undefined, { draft: true });
      const text = 'It is a draft: it waits to be submitted.';
      expect(await waiting(id)).toEqual({ ...none, reason: 'draft', since: expect.any(String), text });
      await force(at().db, id, 'COMPLETED');
      expect(await waiting(id)).toBeNull();
    });

    test('for a slot of its agent, with how many are before it', async () => {
      const slow = [{ text: 'slow', delay_ms: 60_000 }];
      const first = await create(slow, {}, { settings: { max_concurrency: 1 } });
      await first.becomes('EXECUTING');
      expect(await waiting(first.id)).toBeNull();
      const made = [];
      for (let i = 0; i < 3; i++) {
        made.push(await ok(at().api.post('/work-items', { agent_id: first.agent.id })));
      }
      expect(await waiting(made[2].id)).toEqual({
        ...none,
        reason: 'slots',
        since: made[2].created_at,
        ahead: 2,
        slots: { used: 1, of: 1 },
        text: 'Waits: 1 of 1 slots of the agent in use, 2 before it.',
      });
      expect((await waiting(made[0].id)).text).toBe(
        'Waits: 1 of 1 slots of the agent in use, none before it.',
      );
      await ok(at().api.delete(`/agents/${first.agent.id}`), 204);
    });

    test('for an external worker', async () => {
      const { id } = await create(undefined, {}, { execution: 'external' });
      const text = 'Waits for an external worker, none before it.';
      const slots = { used: 0, of: 4 };
      expect(await waiting(id)).toMatchObject({ reason: 'external_worker', ahead: 0, slots, text });
    });

    test('for a retry, until it is due', async () => {
      const { id } = await create(undefined, {}, { execution: 'external' });
      await set(id, sql`not_before = platform_now() + interval '1 hour'`);
      const { until: due, ...rest } = await waiting(id);
      expect(Date.parse(due)).toBeGreaterThan(Date.now() + 3_000_000);
      expect(rest).toMatchObject({ reason: 'retry', ahead: null, text: `Waits for a retry until ${due}.` });
      await set(id, sql`not_before = platform_now() - interval '1 second'`);
      expect(await waiting(id)).toMatchObject({ reason: 'external_worker', ahead: 0, until: null });
    });

    test('for a person, with what is asked', async () => {
      const asks = { tool: 'request_review', args: { reason: 'Is the sum right?' } };
      const { id, becomes } = await create([asks]);
      await becomes('NEEDS_REVIEW');
      const shown = await waiting(id);
      expect(shown).toEqual({
        ...none,
        reason: 'person',
        since: shown.since,
        question: 'Is the sum right?',
        text: `Waits for a person since ${shown.since}: Is the sum right?`,
      });
      const nulls = { tool_server_id: null, input_schema: null, reason: null, expires_at: null };
      const call = { approval_id: newId(), kind: 'unknown_outcome', tool_name: 'ledger.pay', arguments: {} };
      const approval = { ...nulls, ...call, requested_at: '2026-01-01T00:00:00.000Z' };
      await force(at().db, id, 'INDETERMINATE');
      await set(
        id,
        sql`review_reason = null, pending_approvals = ${JSON.stringify([approval, approval])}::jsonb`,
      );
      expect((await waiting(id)).question).toBe('Did the call of ledger.pay take effect, and 1 more?');
    });

    test('for a worker that is alive, or says that none is', async () => {
      const { id } = await create(undefined, { draft: true });
      await set(id, sql`status = 'PENDING'`);
      const agent = (await ok(at().api.get(`/work-items/${id}`))).agent_id;
      await at().sql`update agents set execution = 'platform' where id = ${agent}`;
      // No one is notified, so that no worker claims it for a minute.
      const queued = 'Waits for a free worker, none before it.';
      expect(await waiting(id)).toMatchObject({ reason: 'queue', text: queued });
      await at().sql`update replicas set roles = '{api}'`;
      const alone = 'Waits: no worker is alive, none before it.';
      expect(await waiting(id)).toMatchObject({ reason: 'no_worker', text: alone });
    });
  });
});
