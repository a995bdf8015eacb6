import { beforeAll, describe, expect, test } from 'vitest';
import { completion, type Endpoint, type Reply, startEndpoint } from '../harness/llm-endpoint.ts';
import { interceptStatements } from '../harness/statements.ts';
import { until } from '../harness/wait.ts';
import { newConversation } from './conversations-fixture.ts';
import { expectError, newAgent, newKey, ok, onEachDatabase, unknownId } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onEachDatabase((at) => {
  let endpoint: Endpoint;
  let reply: (n: number) => Reply | Promise<Reply>;
  let llm: Json;
  let agent: Json;

  beforeAll(async () => {
    endpoint = await startEndpoint((_request, n) => reply(n));
    llm = await ok(
      at().api.post('/llm-configurations', {
        kind: 'openai',
        api: 'chat_completions',
        api_key: 'sk-1',
        name: 'charged',
        // 2.5 and 10 USD per million tokens in the catalogue.
        model: 'gpt-4o',
        base_url: endpoint.url,
        streaming: false,
      }),
    );
    agent = await newAgent(at(), { name: 'spender', llm_id: llm.id, settings: { max_attempts: 2 } });
  });

  const ended = (id: string): Promise<Json> =>
    until(async () => {
      const item = await ok(at().api.get(`/work-items/${id}`));
      return ['COMPLETED', 'ERROR', 'CANCELLED'].includes(item.status) && item;
    }, 20_000);
  const run = async (more: object = {}): Promise<Json> =>
    ended((await ok(at().api.post('/work-items', { agent_id: agent.id, message: 'Go', ...more }))).id);
  const chargesOf = async (filter: string): Promise<Json[]> =>
    (await ok(at().api.get(`/charges?${filter}`))).data;

  describe('a charge', () => {
    test('has the tokens, the amount and all that it names; the Work Item and its attempt have the sum', async () => {
      reply = () => ({ body: completion({ content: 'Done.' }) });
      const item = await run();
      const [charge, ...others] = await chargesOf(`work_item_id=${item.id}`);
      expect(others).toEqual([]);
      // 21 × 2.5 + 7 × 10 millionths of a USD.
      expect(charge).toMatchObject({
        purpose: 'run',
        status: 'priced',
        unreconciled: false,
        late: false,
        agent_id: agent.id,
        agent_version: 1,
        work_item_id: item.id,
        run_id: null,
        principal: { kind: 'service_account', id: 'bootstrap', name: 'bootstrap administrator' },
        llm_id: llm.id,
        requested_model: 'gpt-4o',
        model: 'model-1-2026-01-01',
        tokens: { input: 21, output: 7, total: 28 },
        amount_nano_usd: 122_500,
        assumed_nano_usd: null,
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
      expect(item).toMatchObject({ cost_nano_usd: 122_500, unknown_calls: 0 });
      const { data: steps } = await ok(at().app.get(`/work-items/${item.id}/steps`));
      expect(steps.map(({ kind, cost_nano_usd }: Json) => [kind, cost_nano_usd])).toEqual([
        ['attempt', 122_500],
        ['model', 122_500],
      ]);
      const detail = await ok(at().app.get(`/work-items/${item.id}`));
      expect(detail).toMatchObject({ cost_nano_usd: 122_500, attempts: [{ cost_nano_usd: 122_500 }] });
    });

    test('of a call that broke off has no tokens; one that was refused is none', async () => {
      reply = (n) => {
        if (n % 2 === 0) return { status: 400, body: { error: { message: 'no' } } };
        return { body: 'cut off in the mid' };
      };
      const before = endpoint.requests.length;
      const once = await newAgent(at(), { name: 'once', llm_id: llm.id, settings: { max_attempts: 1 } });
      const items = [await run({ agent_id: once.id }), await run({ agent_id: once.id })];
      const calls = endpoint.requests.length - before;
      const found = (await Promise.all(items.map(({ id }) => chargesOf(`work_item_id=${id}`)))).flat();
      const refused = Array.from({ length: calls }, (_, i) => before + i).filter((n) => n % 2 === 0).length;
      expect(found.length).toBe(calls - refused);
      for (const charge of found) {
        expect(charge).toMatchObject({
          status: 'unknown_usage',
          amount_nano_usd: null,
          tokens: { total: 0 },
        });
      }
      const sum = items.reduce((all, item) => all + item.unknown_calls, 0);
      expect(sum).toBe(found.length);
      expect(items.every(({ cost_nano_usd }) => cost_nano_usd === 0)).toBe(true);
    });

    test('counts no usage that no call can have', async () => {
      const usage = { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 28, total_tokens: 28 };
      reply = () => ({ body: { ...completion({ content: 'Done.' }), usage } });
      const { id } = await run();
      expect(await chargesOf(`work_item_id=${id}&unreconciled=true`)).toMatchObject([
        { status: 'priced', tokens: { input: 0, output: 28, total: 28 } },
      ]);
    });

    test('names a person to administrators alone, also one who is deleted before the call', async () => {
      const her = await newPerson(at());
      reply = () => ({ body: completion({ content: 'Done.' }) });
      const body = { agent_id: agent.id, message: 'Go', start_at: new Date(Date.now() + 600).toISOString() };
      const { id } = await ok(at().as(her.value).post('/work-items', body));
      await ok(at().api.delete(`/users/${her.id}`), 204);
      await ended(id);
      expect(await chargesOf(`work_item_id=${id}`)).toMatchObject([
        { principal: { kind: 'person', id: her.id } },
      ]);
      const builder = at().as((await newKey(at(), 'builder')).value);
      expect((await ok(builder.get(`/charges?work_item_id=${id}`))).data).toMatchObject([
        { principal: null },
      ]);
      expect((await ok(builder.get(`/charges?principal_id=${her.id}`))).data).toEqual([]);
    });

    test('of a run of a conversation, and of a test of a configuration', async () => {
      reply = () => ({ body: completion({ content: 'Hello.' }) });
      const talker = await newAgent(at(), { mode: 'conversational', name: 'talks', llm_id: llm.id });
      const conversation = await newConversation(at(), { agentId: talker.id });
      const answered = await conversation.send({ content: 'Hi' });
      expect(answered).toMatchObject({ status: 'completed', cost_nano_usd: 122_500, unknown_calls: 0 });
      expect(await chargesOf(`run_id=${answered.id}`)).toMatchObject([
        { purpose: 'run', work_item_id: null, agent_id: talker.id, amount_nano_usd: 122_500 },
      ]);
      await ok(at().api.post(`/llm-configurations/${llm.id}/test`));
      const tests = await chargesOf(`llm_id=${llm.id}&purpose=test`);
      expect(tests.length).toBeGreaterThan(0);
      expect(tests[0]).toMatchObject({ agent_id: null, trace_id: null, principal: { id: 'bootstrap' } });
    });
  });

  describe('charges of an external worker', () => {
    const claim = async (): Promise<{ id: string; lease_token: string }> => {
      const outside = await newAgent(at(), { name: 'outside', execution: 'external' });
      const { id } = await ok(at().api.post('/work-items', { agent_id: outside.id, message: 'Go' }));
      const { records } = await ok(at().api.post('/work-items/claim', { agent_ids: [outside.id] }));
      return { id, lease_token: records[0].lease_token };
    };

    test('are added once each to cost and usage, by price or as they are', async () => {
      const { id, lease_token } = await claim();
      const report = {
        lease_token,
        charges: [
          { id: 'a', model: 'gpt-4o', llm_id: llm.id, input: 100, cache_read: 20, output: 10 },
          { id: 'b', model: 'house', amount_nano_usd: 5, reasoning: 7 },
        ],
      };
      await ok(at().api.post(`/work-items/${id}/heartbeat`, report));
      await ok(at().api.post(`/work-items/${id}/heartbeat`, report));
      const more = { id: 'c', model: 'nobody knows', output: 1 };
      const item = await ok(
        at().api.post(`/work-items/${id}/finish`, {
          ...report,
          charges: [report.charges[0], more],
          usage: { tool_calls: 2 },
          outcome: 'COMPLETED',
          result: 'done',
        }),
      );
      // 100 × 2.5 + 20 × 1.25 + 10 × 10 millionths of a USD, and 5 nano-USD.
      expect(item).toMatchObject({ cost_nano_usd: 375_005, unknown_calls: 1 });
      expect(item.usage).toEqual({
        input_tokens: 120,
        output_tokens: 18,
        cached_input_tokens: 20,
        reasoning_tokens: 7,
        model_calls: 3,
        tool_calls: 2,
      });
      const found = await chargesOf(`work_item_id=${id}`);
      expect(found.map(({ purpose, status }) => [purpose, status])).toEqual([
        ['external', 'unknown_price'],
        ['external', 'priced'],
        ['external', 'priced'],
      ]);
    });

    test('may be left out: tokens alone are one charge without a price', async () => {
      const { id, lease_token } = await claim();
      const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4, model_calls: 2 };
      await ok(at().api.post(`/work-items/${id}/heartbeat`, { lease_token, usage }));
      const [charge, ...others] = await chargesOf(`work_item_id=${id}`);
      expect(others).toEqual([]);
      expect(charge).toMatchObject({
        status: 'unknown_price',
        model: null,
        tokens: { input: 6, cache_read: 4, output: 5, total: 15 },
      });
      const item = await ok(at().api.get(`/work-items/${id}`));
      expect(item).toMatchObject({ unknown_calls: 1, usage: { input_tokens: 10, model_calls: 2 } });
    });

    test('count also when the lease was lost, and are refused if they contradict', async () => {
      const { id, lease_token } = await claim();
      const charges = [{ id: 'x', model: 'm', amount_nano_usd: 9 }];
      const path = `/work-items/${id}`;
      expectError(
        await at().api.post(`${path}/heartbeat`, { lease_token, charges, usage: { input_tokens: 1 } }),
        422,
      );
      for (const llm_id of [unknownId, 'no id']) {
        const unknown = [{ id: 'x', model: 'm', llm_id }];
        expectError(await at().api.post(`${path}/heartbeat`, { lease_token, charges: unknown }), 422);
      }
      await ok(at().api.post(`${path}/finish`, { lease_token, outcome: 'HANDED_BACK' }));
      const late = { lease_token, outcome: 'COMPLETED', result: 1, charges };
      const { charges: _, ...withUsage } = { ...late, usage: { input_tokens: 10 } };
      // Who is refused may try again.
      for (const body of [late, late, withUsage, withUsage]) {
        const refused = await at().api.post(`${path}/finish`, body);
        expect(refused.status, refused.text).toBe(412);
      }
      expect(await chargesOf(`work_item_id=${id}`)).toMatchObject([
        { late: true, status: 'unknown_price', tokens: { total: 10 } },
        { late: true, amount_nano_usd: 9 },
      ]);
      expect(await ok(at().api.get(path))).toMatchObject({ cost_nano_usd: 9, unknown_calls: 1 });
    });

    test('are counted once they are committed, and models beyond 200 together', async () => {
      const { id, lease_token } = await claim();
      const sums = async (name: string): Promise<[labels: string, value: number][]> => {
        const { text } = await at().test.as(undefined, '').get('/metrics');
        const lines = text.matchAll(
          new RegExp(`^agent_platform_${name}{(.*purpose="external".*)} (\\d+)$`, 'gm'),
        );
        return [...lines].map(([, labels = '', value]) => [labels, Number(value)]);
      };
      const counted = async () =>
        (await sums('model_calls_total')).reduce((all, [, value]) => all + value, 0);
      const before = await counted();
      const report = (models: number) => ({
        lease_token,
        charges: Array.from({ length: models }, (_, i) => ({
          id: `${models} ${i}`,
          model: `model ${models} ${i}`,
          amount_nano_usd: 1,
        })),
      });
      {
        let isWritten = false;
        using _ = interceptStatements(async (statement, send) => {
          isWritten ||= statement.text.includes('insert into charges');
          if (!isWritten || !/^commit/i.test(statement.text)) return send(statement);
          throw new Error('Connection terminated unexpectedly');
        });
        expect((await at().api.post(`/work-items/${id}/heartbeat`, report(1))).status).toBe(503);
        expect(isWritten).toBe(true);
      }
      expect(await counted()).toBe(before);
      await ok(at().api.post(`/work-items/${id}/heartbeat`, report(1)));
      await ok(at().api.post(`/work-items/${id}/heartbeat`, report(1)));
      expect(await counted()).toBe(before + 1);
      for (const models of [99, 100, 98])
        await ok(at().api.post(`/work-items/${id}/heartbeat`, report(models)));
      expect(await counted()).toBe(before + 298);
      const costs = await sums('cost_nano_usd_total');
      expect(costs.length).toBeLessThanOrEqual(201);
      expect(costs.find(([labels]) => labels.includes('model="other"'))![1]).toBeGreaterThan(90);
    });

    test('may be as large as they like: sums stay numbers that JSON can have', async () => {
      const { id, lease_token } = await claim();
      const most = { amount_nano_usd: 9e15, input: 1e12, output: 1e12 };
      for (let n = 0; n < 11; n++) {
        const charges = Array.from({ length: 100 }, (_, i) => ({ id: `${n} ${i}`, model: 'm', ...most }));
        await ok(at().api.post(`/work-items/${id}/heartbeat`, { lease_token, charges }));
      }
      const item = await ok(at().api.get(`/work-items/${id}`));
      expect(item).toMatchObject({ cost_nano_usd: 9e15, usage: { input_tokens: 11e14 } });
      const { total } = await ok(at().api.get(`/costs?work_item_id=${id}`));
      expect(total).toMatchObject({ cost_nano_usd: 9e15, calls: 1_100 });
      const { data: agents } = await ok(at().app.get('/agents?limit=200'));
      expect(agents.find((one: Json) => one.id === item.agent_id).cost).toEqual({
        last_24h: 9e15,
        last_30d: 9e15,
      });
    });
  });

  describe('costs', () => {
    test('are the sums of charges by one or two things, the dearest first', async () => {
      reply = () => ({ body: completion({ content: 'Done.' }) });
      await run();
      const charges = await chargesOf(`llm_id=${llm.id}&limit=200`);
      const costs = await ok(at().api.get(`/costs?llm_id=${llm.id}&group_by=agent,purpose`));
      const amount = charges.reduce((sum, one) => sum + (one.amount_nano_usd ?? 0), 0);
      expect(costs.total).toMatchObject({ cost_nano_usd: amount, calls: charges.length });
      expect(costs.groups.reduce((sum: number, one: Json) => sum + one.cost_nano_usd, 0)).toBe(amount);
      const own = costs.groups.find(({ key }: Json) => key.agent === agent.id);
      expect(own).toMatchObject({ key: { purpose: 'run' }, names: { agent: 'spender', purpose: 'run' } });
      expect(own.tokens.total % 28).toBe(0);
      expect(costs.groups.find(({ key }: Json) => key.purpose === 'test').key.agent).toBeNull();
      const amounts = costs.groups.map((one: Json) => one.cost_nano_usd);
      expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
    });

    test('by day are those of the time zone', async () => {
      const now = new Date();
      const zone = 'Pacific/Kiritimati';
      const { groups } = await ok(at().api.get(`/costs?timezone=${zone}`));
      const day = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
      expect(groups[0].key).toEqual({ day: day(zone) });
      expect((await ok(at().api.get('/costs'))).groups[0].key).toEqual({ day: day('UTC') });
    });

    test('as CSV are in USD, and no cell is a formula', async () => {
      const named = await newAgent(at(), { name: '=HYPERLINK("x")', llm_id: llm.id });
      await ended((await ok(at().api.post('/work-items', { agent_id: named.id, message: 'Go' }))).id);
      const response = await at().api.get(`/costs/export?group_by=agent&agent_id=${named.id}`);
      expect(response.headers.get('content-disposition')).toContain('costs.csv');
      const [head, line] = response.text.split('\r\n');
      expect(head).toMatch(/^agent,agent_name,cost_usd,calls,unknown_calls,unreconciled_calls,input_tokens,/);
      expect(line).toContain(`${named.id},"'=HYPERLINK(""x"")",0.000122500,1,0,0,21,`);
    });

    test('refuse what they cannot sum up, and people from who may not see them', async () => {
      for (const query of [
        'group_by=weather',
        'group_by=day,agent,model',
        'group_by=day,day',
        'timezone=Mars/Olympus',
        'from=2025-01-01T00:00:00Z&to=2026-11-01T00:00:00Z',
        'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
      ]) {
        expectError(await at().api.get(`/costs?${query}`), 422);
      }
      // What is no id is named by no charge.
      for (const name of ['agent_id', 'work_item_id', 'run_id', 'llm_id', 'price_id']) {
        expect(await chargesOf(`${name}=x`)).toEqual([]);
        expect((await ok(at().api.get(`/costs?${name}=x`))).total.calls).toBe(0);
      }
      const builder = at().test.as((await newKey(at(), 'builder')).value);
      expectError(await builder.get('/costs?group_by=person'), 403);
      await ok(builder.get('/costs?group_by=agent'));
      await ok(at().api.get('/costs?group_by=person'));
      const member = at().test.as((await newKey(at(), 'member')).value);
      expectError(await member.get('/charges'), 403);
    });
  });
});
