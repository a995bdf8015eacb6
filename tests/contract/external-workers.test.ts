import { beforeEach, describe, expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  ok,
  onPostgres,
  startFixture,
  time,
  unknownId,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  let agent: Json;
  beforeEach(async () => {
    agent = await newAgent(at(), { execution: 'external' });
  });

  const create = (body: object = {}) => ok(at().api.post('/work-items', { agent_id: agent.id, ...body }));
  const claim = async (more: object = {}): Promise<Json[]> =>
    (await ok(at().api.post('/work-items/claim', { agent_ids: [agent.id], ...more }))).records;
  const claimed = async (body: object = {}): Promise<{ id: string; token: string; record: Json }> => {
    await create(body);
    const [record] = await claim();
    return { id: record.work_item.id, token: record.lease_token, record };
  };
  const beat = (id: string, body: object) => at().api.post(`/work-items/${id}/heartbeat`, body);
  const finish = (id: string, body: object) => at().api.post(`/work-items/${id}/finish`, body);
  const get = (id: string) => ok(at().api.get(`/work-items/${id}`));
  const eventsOf = async (id: string) =>
    (await ok(at().api.get(`/work-items/${id}/events`))).data
      .map((e: Json) => `${e.from}→${e.to} ${e.action}`)
      .toReversed();
  const expire = (id: string) =>
    at().sql`update work_items set lease_expires_at = platform_now() where id = ${id}`;

  describe('an agent', () => {
    test('has `execution`, which only a worker agent can have as `external`', async () => {
      expect((await newAgent(at())).execution).toBe('platform');
      const conversational = await newAgent(at(), { mode: 'conversational', execution: 'platform' });
      const bad = { name: 'x', mode: 'conversational', execution: 'external' };
      expectError(await at().api.post('/agents', bad), 400);
      const path = `/agents/${conversational.id}`;
      expectError(await at().api.patch(path, { execution: 'external' }), 400);
      const changed = await ok(at().api.patch(`/agents/${agent.id}`, { execution: 'platform' }));
      expect(changed.execution).toBe('platform');
    });

    test('that is external is left to external workers; made a platform one, the platform executes it', async () => {
      const { id } = await create();
      const platform = await newAgent(at());
      const other = await ok(at().api.post('/work-items', { agent_id: platform.id }));
      await until(async () => (await get(other.id)).status === 'COMPLETED');
      expect(await get(id)).toMatchObject({ status: 'PENDING', attempts: 0 });
      await ok(at().api.patch(`/agents/${agent.id}`, { execution: 'platform' }));
      await until(async () => (await get(id)).status === 'COMPLETED');
    });
  });

  describe('a Work Item that the platform executes', () => {
    test('has no lease of an external worker: a heartbeat and a finish are a 400', async () => {
      const platform = await newAgent(at());
      const { id } = await ok(at().api.post('/work-items', { agent_id: platform.id, draft: true }));
      expectError(await beat(id, {}), 400, /`platform`/);
      expectError(await finish(id, { lease_token: 'x', outcome: 'COMPLETED' }), 400, /`platform`/);
    });

    test('was claimed before its agent changed: the worker may still finish it', async () => {
      const { id, token } = await claimed();
      await ok(at().api.patch(`/agents/${agent.id}`, { execution: 'platform' }));
      expect((await beat(id, { lease_token: 'x' })).status).toBe(412);
      await ok(beat(id, { lease_token: token }));
      expect((await ok(finish(id, { lease_token: token, outcome: 'COMPLETED' }))).status).toBe('COMPLETED');
    });
  });

  describe('claim', () => {
    test('returns the Work Item, a token that only its caller has, a trace, and the conversation', async () => {
      const { id } = await create({ message: 'm', payload: { a: 1 } });
      const [record, ...rest] = await claim({ worker: 'w-1', lease_seconds: 60 });
      expect(rest).toEqual([]);
      expect(record).toEqual({
        work_item: await get(id),
        lease_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        lease_expires_at: expect.stringMatching(time),
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
        messages: [],
        decisions: [],
      });
      expect(record.work_item).toMatchObject({ status: 'EXECUTING', attempts: 1, message: 'm' });
      const left = Date.parse(record.lease_expires_at) - Date.parse(record.work_item.started_at);
      expect(left).toBe(60_000);
      const { trace_id } = await ok(at().api.get(`/work-items/${id}/trace`));
      expect(record.traceparent.slice(3, 35)).toBe(trace_id);
      const stored = await at().sql`select l::text from external_leases l where work_item_id = ${id}`;
      expect(stored).toHaveLength(1);
      expect(JSON.stringify(stored)).not.toContain(record.lease_token);
      const [event] = (await ok(at().api.get(`/work-items/${id}/events`))).data;
      expect(event).toMatchObject({ action: 'claim', to: 'EXECUTING', details: { owner: 'w-1' } });
    });

    test('takes the oldest of all named agents first, within the max_concurrency of each', async () => {
      const one = await newAgent(at(), { execution: 'external', settings: { max_concurrency: 1 } });
      const made: string[] = [];
      for (const agent_id of [one.id, agent.id, one.id, agent.id]) made.push((await create({ agent_id })).id);
      const agent_ids = [agent.id, one.id, agent.id];
      const ids = async (limit: number) =>
        (await claim({ agent_ids, limit })).map((r: Json) => r.work_item.id);
      expect(await ids(1)).toEqual([made[0]]);
      expect(await ids(10)).toEqual([made[1], made[3]]);
      expect(await ids(10)).toEqual([]);
    });

    test('by many at once never exceeds max_concurrency, and gives each to one', async () => {
      const few = await newAgent(at(), { execution: 'external', settings: { max_concurrency: 3 } });
      for (let i = 0; i < 6; i++) await create({ agent_id: few.id });
      const got = (await Promise.all(Array.from({ length: 8 }, () => claim({ agent_ids: [few.id] })))).flat();
      expect(got).toHaveLength(3);
      expect(new Set(got.map((r) => r.work_item.id)).size).toBe(3);
    });

    test.each([
      [404, 'an unknown agent', { agent_ids: [unknownId] }],
      [404, 'a malformed id', { agent_ids: ['x'] }],
      [404, 'an unknown agent, before the rest of the body', { agent_ids: [unknownId], limit: 0 }],
    ])('responds with %i to %s', async (status, _what, body) => {
      expectError(await at().api.post('/work-items/claim', body), status);
    });

    test('of an agent of the platform is a 400, also next to an external one', async () => {
      for (const fields of [{}, { mode: 'conversational' }]) {
        const { id } = await newAgent(at(), fields);
        expectError(await at().api.post('/work-items/claim', { agent_ids: [agent.id, id] }), 400, /external/);
      }
    });
  });

  describe('a claim that waits', () => {
    test('gets what is created in the meantime, at once', async () => {
      const waiting = claim({ wait_seconds: 20 });
      const { id } = await create();
      const began = performance.now();
      const [record] = await waiting;
      expect(record.work_item.id).toBe(id);
      expect(performance.now() - began).toBeLessThan(15_000);
    });

    test('gets what is retried, and the room that a finish makes', async () => {
      const one = await newAgent(at(), { execution: 'external', settings: { max_concurrency: 1 } });
      const agent_ids = [one.id];
      const first = await create({ agent_id: one.id });
      const second = await create({ agent_id: one.id });
      const [record] = await claim({ agent_ids });
      expect(record.work_item.id).toBe(first.id);
      const waiting = claim({ agent_ids, wait_seconds: 20 });
      await ok(
        finish(first.id, { lease_token: record.lease_token, outcome: 'RETRY', retry_after_seconds: 1 }),
      );
      const [next] = await waiting;
      expect(next.work_item.id).toBe(second.id);
      const again = claim({ agent_ids, wait_seconds: 20 });
      await ok(finish(second.id, { lease_token: next.lease_token, outcome: 'COMPLETED' }));
      expect((await again)[0].work_item).toMatchObject({ id: first.id, attempts: 2 });
    });

    test('returns nothing after its time', async () => {
      const began = performance.now();
      expect(await claim({ wait_seconds: 1 })).toEqual([]);
      expect(performance.now() - began).toBeGreaterThan(900);
    });

    test('many waiting each get one, and none is given twice', async () => {
      const many = await newAgent(at(), { execution: 'external', settings: { max_concurrency: 100 } });
      const waiting = Array.from({ length: 30 }, () => claim({ agent_ids: [many.id], wait_seconds: 20 }));
      const items = Array.from({ length: 30 }, () => ({ agent_id: many.id }));
      await ok(at().api.post('/work-items/bulk', { items }));
      const ids = (await Promise.all(waiting)).flat().map((r) => r.work_item.id);
      expect(new Set(ids).size).toBe(30);
    });

    test('is refused once its key is revoked, and claims nothing', async () => {
      const key = await newKey(at(), 'builder');
      const waiting = at()
        .as(key.value)
        .post('/work-items/claim', { agent_ids: [agent.id], wait_seconds: 30 });
      await until(async () => (await ok(at().api.get(`/api-keys/${key.id}`))).last_used_at);
      await ok(at().api.delete(`/api-keys/${key.id}`), 204);
      const { id } = await create();
      expectError(await waiting, 401, /revoked/);
      expect(await get(id)).toMatchObject({ status: 'PENDING', attempts: 0 });
    });

    test('claims nothing once its connection is closed', async () => {
      const gone = new AbortController();
      const waiting = at().test.api.post(
        '/work-items/claim',
        { agent_ids: [agent.id], wait_seconds: 30 },
        { signal: gone.signal },
      );
      waiting.catch(() => {});
      // The one that stays shows when both wait: it gets what the one that leaves does not.
      const stays = claim({ wait_seconds: 20 });
      await new Promise((resolve) => setTimeout(resolve, 200));
      gone.abort();
      await expect(waiting).rejects.toThrow();
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { id } = await create();
      expect((await stays)[0].work_item.id).toBe(id);
      const second = await create();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await get(second.id)).toMatchObject({ status: 'PENDING', attempts: 0 });
      expect(await eventsOf(second.id)).toEqual(['null→PENDING create']);
    });
  });

  describe('heartbeat', () => {
    test('extends the lease by the time of the claim or its own, and says whether a cancel was requested', async () => {
      const { id, token } = await claimed();
      const state = await ok(beat(id, { lease_token: token, lease_seconds: 3_600 }));
      expect(state).toEqual({ lease_expires_at: expect.stringMatching(time), cancel_requested: false });
      expect(Date.parse(state.lease_expires_at)).toBeGreaterThan(Date.now() + 3_500_000);
      await ok(at().api.post(`/work-items/${id}/cancel`));
      const shorter = await ok(beat(id, { lease_token: token }));
      expect(shorter.cancel_requested).toBe(true);
      expect(Date.parse(shorter.lease_expires_at)).toBeLessThan(Date.now() + 60_000);
    });

    test('adds messages and usage', async () => {
      const { id, token } = await claimed();
      const of = { tool_call_id: 'c1', tool_name: 'pay' };
      const call = { type: 'tool_call', ...of, arguments: { n: 1 } };
      const result = { type: 'tool_result', ...of, text: 'paid', is_error: false };
      const messages = [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: [{ type: 'text', text: 'paying' }, call] },
        { role: 'tool', content: [result] },
      ];
      await ok(beat(id, { lease_token: token, messages, usage: { input_tokens: 5, model_calls: 1 } }));
      await ok(beat(id, { lease_token: token, usage: { input_tokens: 2, tool_calls: 3 } }));
      const { data } = await ok(at().api.get(`/work-items/${id}/messages`));
      expect(data.map((m: Json) => [m.role, m.content]).toReversed()).toEqual([
        ['user', [{ type: 'text', text: 'hello' }]],
        ['assistant', [{ type: 'text', text: 'paying' }, call]],
        ['tool', [result]],
      ]);
      const others = { output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
      const usage = { input_tokens: 7, model_calls: 1, tool_calls: 3, ...others };
      expect((await get(id)).usage).toEqual(usage);
      await ok(finish(id, { lease_token: token, outcome: 'HANDED_BACK' }));
      const [again] = await claim();
      expect(again.messages.map((m: Json) => m.role)).toEqual(['user', 'assistant', 'tool']);
    });

    test('with a tool call of a user is 422, and stores nothing', async () => {
      const { id, token } = await claimed();
      const call = { type: 'tool_call', tool_call_id: 'c', tool_name: 't', arguments: {} };
      const messages = [
        { role: 'assistant', content: [call] },
        { role: 'user', content: [call] },
      ];
      const response = await beat(id, { lease_token: token, messages });
      expectError(response, 422);
      expect(faults(response)).toEqual(['messages[1].content[0]']);
      expect((await ok(at().api.get(`/work-items/${id}/messages`))).data).toEqual([]);
    });

    test('an unsafe call in flight when the worker is lost leaves INDETERMINATE', async () => {
      const { id, token } = await claimed();
      await ok(beat(id, { lease_token: token, unsafe_tool_in_flight: true }));
      await ok(beat(id, { lease_token: token }));
      await expire(id);
      expectError(await beat(id, { lease_token: token }), 412, /lease/, {
        status: 'INDETERMINATE',
        allowed_actions: (await get(id)).allowed_actions,
      });
    });
  });

  describe('a token that does not hold the lease', () => {
    const refusedWith = (status: string) =>
      ({ code: 'precondition_failed', status, allowed_actions: expect.any(Array) }) as const;

    test('unknown, of another Work Item, or of an earlier claim is a 412 with the status', async () => {
      const first = await claimed();
      const second = await claimed();
      for (const lease_token of ['x', 'A'.repeat(43), second.token]) {
        for (const response of [
          await beat(first.id, { lease_token }),
          await finish(first.id, { lease_token, outcome: 'COMPLETED' }),
        ]) {
          expect([response.status, response.body.error]).toMatchObject([412, refusedWith('EXECUTING')]);
        }
      }
      await ok(finish(first.id, { lease_token: first.token, outcome: 'HANDED_BACK' }));
      const [again] = await claim();
      expect(again.work_item.id).toBe(first.id);
      expect((await beat(first.id, { lease_token: first.token })).status).toBe(412);
      await ok(beat(first.id, { lease_token: again.lease_token }));
    });

    test('expired gives the Work Item back; a late finish changes nothing and is recorded', async () => {
      const { id, token } = await claimed();
      await expire(id);
      const response = await finish(id, { lease_token: token, outcome: 'COMPLETED', result: 'late' });
      expect([response.status, response.body.error]).toMatchObject([412, refusedWith('PENDING')]);
      const again = await finish(id, { lease_token: token, outcome: 'COMPLETED', result: 'late' });
      expect(again.status).toBe(412);
      expect(await get(id)).toMatchObject({ status: 'PENDING', result: null, attempts: 1 });
      expect(await eventsOf(id)).toEqual([
        'null→PENDING create',
        'PENDING→EXECUTING claim',
        'EXECUTING→PENDING lease_lost',
        'PENDING→PENDING late_result',
      ]);
    });

    test('expired with no attempts left is an ERROR', async () => {
      const once = await newAgent(at(), { execution: 'external', settings: { max_attempts: 1 } });
      const { id } = await create({ agent_id: once.id });
      const [record] = await claim({ agent_ids: [once.id] });
      await expire(id);
      expect((await beat(id, { lease_token: record.lease_token })).body.error.status).toBe('ERROR');
      expect((await get(id)).error.code).toBe('lease_lost');
    });
  });

  describe('finish', () => {
    const end = async (body: object) => {
      const { id, token } = await claimed();
      return { id, token, item: await ok(finish(id, { lease_token: token, ...body })) };
    };

    test('COMPLETED stores the result, the last messages and the usage', async () => {
      const stored = { result: { sum: [1, null] }, usage: { output_tokens: 4 } };
      const messages = [{ role: 'assistant', content: 'done' }];
      const { id, item } = await end({ outcome: 'COMPLETED', ...stored, messages });
      expect(item).toMatchObject({ status: 'COMPLETED', error: null, ...stored });
      expect(item.finished_at).toMatch(time);
      expect((await ok(at().api.get(`/work-items/${id}/messages`))).data).toHaveLength(1);
      expect(await eventsOf(id)).toEqual([
        'null→PENDING create',
        'PENDING→EXECUTING claim',
        'EXECUTING→COMPLETED finish',
      ]);
    });

    test('the same finish again is a 200 that changes nothing, also after a restart; another is a 412', async () => {
      const body = { outcome: 'COMPLETED', result: 'r', usage: { input_tokens: 1 } };
      const { id, token, item } = await end(body);
      const same = { lease_token: token, ...body };
      expect(await ok(finish(id, same))).toEqual(item);
      expect((await finish(id, { ...same, result: 'other' })).status).toBe(412);
      expect((await get(id)).usage.input_tokens).toBe(1);
      await ok(at().api.post(`/work-items/${id}/restart`));
      expect((await ok(finish(id, same))).status).toBe('PENDING');
    });

    test('two equal ones at once end it once', async () => {
      const { id, token } = await claimed();
      const messages = [{ role: 'assistant', content: 'x' }];
      const body = { lease_token: token, outcome: 'COMPLETED', messages };
      const all = await Promise.all([1, 2, 3, 4].map(() => finish(id, body)));
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect((await ok(at().api.get(`/work-items/${id}/messages`))).data).toHaveLength(1);
    });

    test('ERROR has the error of the worker', async () => {
      const error = { code: 'no_such_file', message: 'm' };
      expect((await end({ outcome: 'ERROR', error })).item).toMatchObject({ status: 'ERROR', error });
      expect((await end({ outcome: 'ERROR' })).item.error.code).toBe('worker_error');
    });

    test('RETRY waits as asked, and is an ERROR when no attempts are left', async () => {
      const error = { code: 'busy', message: 'm' };
      const { id } = await end({ outcome: 'RETRY', retry_after_seconds: 3_600, error });
      expect(await get(id)).toMatchObject({ status: 'PENDING', attempts: 1, error: null });
      expect(await claim()).toEqual([]);
      await at().sql`update work_items set not_before = platform_now() where id = ${id}`;
      const [again] = await claim();
      expect(again.work_item).toMatchObject({ id, attempts: 2 });
      await at().sql`update work_items set attempts = 3 where id = ${id}`;
      const last = { lease_token: again.lease_token, outcome: 'RETRY', error };
      expect(await ok(finish(id, last))).toMatchObject({ status: 'ERROR', error: { code: 'busy' } });
    });

    test.each(['RETRY', 'HANDED_BACK'])('%s during an unsafe call leaves INDETERMINATE', async (outcome) => {
      const { id, token } = await claimed();
      await ok(beat(id, { lease_token: token, unsafe_tool_in_flight: true }));
      const item = await ok(finish(id, { lease_token: token, outcome }));
      expect(item).toMatchObject({ status: 'INDETERMINATE', error: { code: 'indeterminate' } });
    });

    test('HANDED_BACK uses no attempt', async () => {
      const { id, item } = await end({ outcome: 'HANDED_BACK' });
      expect(item).toMatchObject({ status: 'PENDING', attempts: 0 });
      expect((await claim())[0].work_item).toMatchObject({ id, attempts: 1 });
    });

    test('NEEDS_REVIEW asks a person; what was asked is settled when a person goes on', async () => {
      const approvals = [{ approval_id: 'a-1', tool_name: 'pay', arguments: { n: 1 }, reason: 'much' }];
      const { id, item } = await end({ outcome: 'NEEDS_REVIEW', review: { reason: 'Pay?', approvals } });
      expect(item).toMatchObject({ status: 'NEEDS_REVIEW', review_reason: 'Pay?', finished_at: null });
      const rest = { kind: 'tool_call', tool_server_id: null, input_schema: null, expires_at: null };
      const more = { requested_at: expect.stringMatching(time), mode: null, url: null, round: null };
      expect(item.pending_approvals).toEqual([{ ...approvals[0], ...rest, ...more }]);
      await ok(at().api.post(`/work-items/${id}/cancel`));
      expect(await get(id)).toMatchObject({ review_reason: null, pending_approvals: [] });
    });

    test('a message of a person who continues is in the next claim', async () => {
      const { id } = await end({ outcome: 'NEEDS_REVIEW', review: { reason: 'Sure?' } });
      await ok(at().api.post(`/work-items/${id}/continue`, { message: 'yes' }));
      const [again] = await claim();
      expect(again.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'yes' }] });
    });

    test('the decisions of a person are in the next claim, and no one else decides', async () => {
      const call = { tool_name: 'pay', arguments: { n: 1 } };
      const approvals = ['a', 'b'].map((approval_id) => ({ approval_id, ...call }));
      const { id } = await end({ outcome: 'NEEDS_REVIEW', review: { reason: 'Pay?', approvals } });
      const decisions = [
        { approval_id: 'a', decision: 'approve', arguments: { n: 2 } },
        { approval_id: 'b', decision: 'deny', reason: 'too much' },
      ];
      const member = at().as((await newKey(at(), 'member')).value);
      expectError(await member.post(`/work-items/${id}/continue`, { decisions }), 403);
      await ok(at().api.post(`/work-items/${id}/continue`, { decisions }));
      const [again] = await claim();
      expect(again.decisions).toEqual(decisions);
      expect(again.work_item).toMatchObject({ pending_approvals: [], review_reason: null });
    });

    test('COMPLETED is checked by the result_schema of the agent, and a refused result keeps the lease', async () => {
      const result_schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };
      await ok(at().api.patch(`/agents/${agent.id}`, { result_schema }));
      const { id, token } = await claimed();
      for (const result of [undefined, null, 'text', {}, { sum: 'x' }]) {
        const refused = await finish(id, { lease_token: token, outcome: 'COMPLETED', result });
        expectError(refused, 422);
        expect(faults(refused)).toEqual(['result']);
      }
      expect((await get(id)).status).toBe('EXECUTING');
      const done = await ok(finish(id, { lease_token: token, outcome: 'COMPLETED', result: { sum: 3 } }));
      expect(done).toMatchObject({ status: 'COMPLETED', result: { sum: 3 } });
      const other = await claimed();
      await ok(finish(other.id, { lease_token: other.token, outcome: 'ERROR' }));
    });

    test('a result that makes a pattern of the result_schema backtrack turns no check off, for itself or for the next', async () => {
      // The first has a linear engine, the second has none: its value cannot be checked in time.
      for (const [pattern, why] of [
        ['^(a+)+$', /pattern/],
        ['^(?=a)(a+)+$', /in time/],
      ] as const) {
        const result_schema = { properties: { s: { pattern }, amount: { maximum: 10 } } };
        await ok(at().api.patch(`/agents/${agent.id}`, { result_schema }));
        const { id, token } = await claimed();
        const complete = (result: unknown) =>
          finish(id, { lease_token: token, outcome: 'COMPLETED', result });
        expectError(await complete({ amount: 1, s: `${'a'.repeat(40)}!` }), 422, why);
        expectError(await complete({ amount: 9_999, s: 'aa' }), 422, /amount must be <= 10/);
        await ok(complete({ amount: 1, s: 'aa' }));
      }
      const { text } = await at().test.as(undefined, '').get('/metrics');
      expect(text).toMatch(/agent_platform_schema_checks_refused_total [1-9]/);
      await ok(at().api.patch(`/agents/${agent.id}`, { result_schema: null }));
    });

    test('after a cancel was requested leaves CANCELLED, whatever the worker says', async () => {
      for (const outcome of ['COMPLETED', 'RETRY', 'CANCELLED', 'HANDED_BACK']) {
        const { id, token } = await claimed();
        await ok(at().api.post(`/work-items/${id}/cancel`));
        const item = await ok(finish(id, { lease_token: token, outcome, result: 'x' }));
        expect(item).toMatchObject({ status: 'CANCELLED', result: null });
      }
    });

    test.each(['Bad', 'a'.repeat(65)])('the code %s is no code of an error: 422', async (code) => {
      const { id, token } = await claimed();
      const body = { lease_token: token, outcome: 'ERROR', error: { code, message: 'm' } };
      expectError(await finish(id, body), 422);
      expect((await get(id)).status).toBe('EXECUTING');
    });

    test('counts in the metrics like a run of the platform', async () => {
      const read = async () => {
        const { text } = await at().test.as(undefined, '').get('/metrics');
        return Number(/work_items_finished_total\{status="NEEDS_REVIEW"\} (\d+)/.exec(text)![1]);
      };
      const before = await read();
      await end({ outcome: 'NEEDS_REVIEW', review: { reason: 'r' } });
      expect(await read()).toBe(before + 1);
    });
  });
});

describe('a stop', () => {
  test('ends a claim that waits with no records, at once', async () => {
    const fixture = await startFixture('postgres');
    const agent = await newAgent(fixture, { execution: 'external' });
    const key = await newKey(fixture, 'builder');
    const claim = { agent_ids: [agent.id], wait_seconds: 30 };
    const waiting = ok(fixture.as(key.value).post('/work-items/claim', claim));
    await until(async () => (await ok(fixture.api.get(`/api-keys/${key.id}`))).last_used_at);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const began = performance.now();
    const stopped = fixture.test.stop();
    expect(await waiting).toEqual({ records: [] });
    expect(performance.now() - began).toBeLessThan(25_000);
    await stopped;
  });
});
