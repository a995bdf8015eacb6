import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completion, type Endpoint, startEndpoint } from '../harness/llm-endpoint.ts';
import { until } from '../harness/wait.ts';
import { newConversation, scripted } from './conversations-fixture.ts';
import { sendForm } from './files-fixture.ts';
import { expectError, faults, newAgent, newKey, ok, onEachDatabase } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** A call reserves a little more than 1,000 tokens, and uses 600: of two the second finds no room. */
const limit = 1_500;
const script = { steps: [{ text: 'Done.', usage: { input: 500, output: 100 } }] };

onEachDatabase((at) => {
  const budgets = new Map<string, Json>();
  const agents = new Map<string, Json>();
  let llm: Json;
  let cheap: Json;
  let judge: Endpoint;
  let judging: Json;

  const create = async (
    name: string,
    action: string,
    { agent = {}, budget = {} }: { agent?: object; budget?: object },
  ) => {
    const made = await newAgent(at(), { name, settings: { max_output_tokens: 16 }, ...agent });
    agents.set(name, made);
    const scope = { kind: 'agent', id: made.id };
    const fields = { name, scope, unit: 'tokens', limit, period: 'month', action, ...budget };
    budgets.set(name, await ok(at().api.post('/budgets', fields)));
  };

  beforeAll(async () => {
    const { api } = at();
    llm = await ok(api.post('/llm-configurations', { kind: 'mock', name: 'tested', model: 'mock' }));
    cheap = await ok(api.post('/llm-configurations', { kind: 'mock', name: 'cheap', model: 'mock' }));
    for (const action of ['refuse', 'wait', 'ask']) {
      await create(action, action, {});
      await create(`external ${action}`, action, { agent: { execution: 'external' } });
      await create(`talker ${action}`, action, { agent: { mode: 'conversational' } });
    }
    for (const action of ['ask', 'wait']) await create(`tried ${action}`, action, {});
    for (const action of ['refuse', 'ask'])
      await create(`streamer ${action}`, action, { agent: { mode: 'conversational' }, budget: { limit: 1 } });
    await create('ask twice', 'ask', {});
    await create('ask and raise', 'ask', {});
    await create('cheaper', 'cheaper', { budget: { llm_id: cheap.id, from_percent: 40, limit: 3_000 } });
    const ofLlm = { name: 'llm', scope: { kind: 'llm_configuration', id: llm.id }, unit: 'tokens', limit: 1 };
    await ok(api.post('/budgets', { ...ofLlm, period: 'total' }));
    judge = await startEndpoint(() => ({
      body: completion({ content: '{"label":"pass","reason":"It is."}' }),
    }));
    judging = await ok(
      api.post('/llm-configurations', {
        kind: 'openai_compatible',
        name: 'judging',
        model: 'model-1',
        base_url: judge.url,
        api_key: 'k',
      }),
    );
    const ofJudge = { ...ofLlm, name: 'judge', scope: { kind: 'llm_configuration', id: judging.id } };
    await ok(api.post('/budgets', { ...ofJudge, period: 'total' }));
    // Budgets count calls from two seconds after their creation on.
    await sleep(2_100);
  });

  afterAll(() => judge?.[Symbol.asyncDispose]());

  /** The trials of an experiment whose judge's LLM configuration has a used up budget. */
  const judgedTrials = async (): Promise<Json[]> => {
    const { api } = at();
    const graders = [{ type: 'llm_judge', rubric: 'It is polite.', llm_id: judging.id }];
    const dataset = await ok(api.post('/datasets', { name: 'judged', graders }));
    await ok(
      api.post(`/datasets/${dataset.id}/cases`, { input: { message: 'Go', payload: { mock: script } } }),
    );
    const agent = await newAgent(at(), { name: 'judged' });
    const { id } = await ok(api.post('/experiments', { agent_id: agent.id, dataset_id: dataset.id }));
    await until(async () => (await ok(api.get(`/experiments/${id}`))).state === 'done', 20_000);
    return (await ok(api.get(`/experiments/${id}/trials`))).data;
  };
  const get = (id: string): Promise<Json> => ok(at().api.get(`/work-items/${id}`));
  const reaches = (id: string, ...statuses: string[]): Promise<Json> =>
    until(async () => {
      const item = await get(id);
      return statuses.includes(item.status) && item;
    }, 20_000);
  const newItem = async (name: string): Promise<string> => {
    const fields = { agent_id: agents.get(name).id, message: 'Go', payload: { mock: script } };
    return (await ok(at().api.post('/work-items', fields))).id;
  };
  const run = async (name: string): Promise<Json> =>
    reaches(await newItem(name), 'COMPLETED', 'ERROR', 'NEEDS_REVIEW');
  const budget = (name: string): Promise<Json> => ok(at().api.get(`/budgets/${budgets.get(name).id}`));
  const raise = (name: string, to: number) =>
    ok(at().api.patch(`/budgets/${budgets.get(name).id}`, { limit: to }));
  const entries = async (name: string, action: string): Promise<Json[]> => {
    const target = `target_id=${budgets.get(name).id}&action=${action}`;
    return (await ok(at().api.get(`/audits?${target}`))).data;
  };

  test('refuse: the Work Item ends with an error that names the budget and its figures; people are notified once', async () => {
    expect(await run('refuse')).toMatchObject({ status: 'COMPLETED' });
    const refused = await run('refuse');
    expect(refused).toMatchObject({ status: 'ERROR', error: { code: 'budget_exceeded' } });
    expect(refused.error.message).toMatch(
      /^The budget refuse has no room: 600 tokens of 1,500 tokens are spent, and the call may use up to 1,\d{3} tokens\. Its period ends at \d{4}-\d\d-01T00:00:00\.000Z\.$/,
    );
    expect((await budget('refuse')).current).toMatchObject({ spent: 600, state: 'exhausted' });
    await run('refuse');
    expect(await entries('refuse', 'budget.exhausted')).toHaveLength(1);
    const { attention } = await ok(at().app.get('/overview'));
    expect(attention.find(({ kind }: Json) => kind === 'budget_exhausted')).toMatchObject({
      severity: 'error',
    });
    await raise('refuse', 2_500);
    expect((await budget('refuse')).current).toMatchObject({ state: 'ok' });
    expect(await run('refuse')).toMatchObject({ status: 'COMPLETED' });
    await raise('refuse', 1_500);
    await until(async () => (await entries('refuse', 'budget.threshold')).length === 2, 5_000);
    const percents = (await entries('refuse', 'budget.threshold')).map(({ details }) => details.percent);
    expect(percents.sort()).toEqual([50, 80]);
  });

  test('wait: the Work Item is PENDING until the period ends, without an attempt, or until there is room', async () => {
    await run('wait');
    const id = await newItem('wait');
    const waiting = await until(async () => {
      const item = await ok(at().app.get(`/work-items/${id}`));
      return item.waiting?.reason === 'budget' && item;
    });
    const { ends_at } = (await budget('wait')).current;
    const lateBy = Date.parse(waiting.waiting.until) - Date.parse(ends_at);
    expect(lateBy).toBeGreaterThanOrEqual(0);
    expect(lateBy).toBeLessThanOrEqual(30_000);
    expect(await get(id)).toMatchObject({ status: 'PENDING', attempts: 0 });
    await raise('wait', 3_000);
    const began = performance.now();
    await reaches(id, 'COMPLETED');
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  describe('ask', () => {
    test('an administrator adds room, which counts in this period alone; no one else decides', async () => {
      await run('ask');
      const { id, pending_approvals, status } = await run('ask');
      expect(status).toBe('NEEDS_REVIEW');
      const [{ approval_id, ...asked }] = pending_approvals;
      const extra = asked.arguments.extra;
      expect(asked).toMatchObject({
        kind: 'budget',
        tool_name: null,
        arguments: { budget_id: budgets.get('ask').id },
      });
      expect(asked.reason).toMatch(/^The budget ask has no room/);
      expect(extra).toBeGreaterThan(10_000);
      expect(Object.keys(asked)).not.toContain('budget');
      const path = `/work-items/${id}/continue`;
      const builder = at().as((await newKey(at(), 'builder')).value);
      expectError(await builder.post(path, { message: 'Go on' }), 403, /admin/);
      const decide = (args?: object) => ({
        decisions: [{ approval_id, decision: 'approve', ...(args && { arguments: args }) }],
      });
      expectError(await builder.post(path, decide()), 403, /admin/);
      expect(faults(await at().api.post(path, decide({ extra: -1 })))).toEqual(['decisions[0].arguments']);
      // Nothing is added: it tries again, and asks again.
      await ok(at().api.post(path, decide({ extra: 0 })));
      const again = await until(async () => {
        const item = await get(id);
        return item.pending_approvals[0] && item.pending_approvals[0].approval_id !== approval_id && item;
      });
      const approve = {
        decisions: [{ approval_id: again.pending_approvals[0].approval_id, decision: 'approve' }],
      };
      const both = await Promise.all([at().api.post(path, approve), at().api.post(path, approve)]);
      expect(both.map((response) => response.status).sort()).toEqual([200, 412]);
      await reaches(id, 'COMPLETED');
      expect((await budget('ask')).current).toMatchObject({ spent: 1_200, extra, state: 'ok' });
      expect(await entries('ask', 'budget.extend')).toMatchObject([{ details: { added: extra } }]);
    });

    test('a denial ends the Work Item', async () => {
      await run('ask twice');
      const { id, pending_approvals } = await run('ask twice');
      const { approval_id } = pending_approvals[0];
      const decisions = [{ approval_id, decision: 'deny', reason: 'enough' }];
      const ended = await ok(at().api.post(`/work-items/${id}/continue`, { decisions }));
      expect(ended).toMatchObject({
        status: 'ERROR',
        error: {
          code: 'budget_exceeded',
          message: 'An administrator gave the budget ask twice no more room: enough',
        },
        pending_approvals: [],
      });
    });

    test('a raised limit lets it go on without a decision', async () => {
      await run('ask and raise');
      const { id } = await run('ask and raise');
      await raise('ask and raise', 5_000);
      await reaches(id, 'COMPLETED');
      const { data } = await ok(at().api.get(`/work-items/${id}/events`));
      expect(data.map(({ action }: Json) => action)).toContain('continue');
    });
  });

  test('cheaper: calls go to another model from its part of the limit on, and are refused when nothing is left', async () => {
    const modelOf = async ({ id }: Json) => {
      const { data } = await ok(at().api.get(`/charges?work_item_id=${id}`));
      return data.map(({ llm_id }: Json) => llm_id === cheap.id);
    };
    expect(await modelOf(await run('cheaper'))).toEqual([false]);
    expect(await modelOf(await run('cheaper'))).toEqual([false]);
    await until(async () => {
      const { current } = await budget('cheaper');
      return current.spent === 1_200;
    });
    // The figures are read each second.
    await sleep(1_100);
    expect(await modelOf(await run('cheaper'))).toEqual([true]);
    expect(await modelOf(await run('cheaper'))).toEqual([true]);
    expect(await run('cheaper')).toMatchObject({ status: 'ERROR', error: { code: 'budget_exceeded' } });
  });

  test('runs of conversations are refused by `wait`, and wait for an administrator', async () => {
    const content = scripted(script);
    const talk = async (name: string) => {
      const conversation = await newConversation(at(), { agentId: agents.get(name).id });
      await conversation.send({ content });
      return { conversation, run: await conversation.send({ content }) };
    };
    for (const name of ['talker refuse', 'talker wait'])
      expect((await talk(name)).run).toMatchObject({ status: 'error', error: { code: 'budget_exceeded' } });
    const { conversation, run: asked } = await talk('talker ask');
    expect(asked).toMatchObject({ status: 'needs_review', pending_approvals: [{ kind: 'budget' }] });
    const member = at().as((await newKey(at(), 'builder')).value);
    expectError(await member.post(`${conversation.path}/messages`, { content: 'Go' }), 403, /admin/);
    const [{ approval_id }] = asked.pending_approvals;
    const done = await conversation.send({ decisions: [{ approval_id, decision: 'approve' }] });
    expect(done).toMatchObject({ status: 'completed', answer: 'Done.' });
    const stopped = (await talk('talker ask')).run;
    expect(stopped.status).toBe('completed');
  });

  test('claims of external workers hand out nothing whose budget is used up', async () => {
    const { api } = at();
    const claim = async (name: string): Promise<Json[]> =>
      (await ok(api.post('/work-items/claim', { agent_ids: [agents.get(name).id] }))).records;
    for (const action of ['refuse', 'wait', 'ask']) {
      const name = `external ${action}`;
      const first = await newItem(name);
      const [record] = await claim(name);
      const charges = [{ id: '1', model: 'm', input: 2_000 }];
      const end = { lease_token: record.lease_token, outcome: 'COMPLETED', result: 'x', charges };
      await ok(api.post(`/work-items/${first}/finish`, end));
      expect((await budget(name)).current).toMatchObject({ spent: 2_000, state: 'exhausted' });
      const second = await newItem(name);
      expect(await claim(name)).toEqual([]);
      const item = await get(second);
      expect([action, item.status]).toEqual([
        action,
        { refuse: 'ERROR', wait: 'PENDING', ask: 'NEEDS_REVIEW' }[action],
      ]);
      if (action === 'wait') expect(item.attempts).toBe(0);
      if (action !== 'ask') continue;
      expect(item.pending_approvals).toMatchObject([{ kind: 'budget', arguments: { extra: limit / 10 } }]);
      const [{ approval_id }] = item.pending_approvals;
      const decisions = [{ approval_id, decision: 'approve', arguments: { extra: 1_000 } }];
      await ok(api.post(`/work-items/${second}/continue`, { decisions }));
      expect(await claim(name)).toHaveLength(1);
    }
  });

  test('a run that is streamed ends with the refusal, and one that asks with the question', async () => {
    const lastOf = async (name: string): Promise<Json> => {
      const conversation = await newConversation(at(), { agentId: agents.get(name).id });
      const stream = await conversation.stream({ content: scripted(script) });
      await stream.ended;
      expect(stream.events.map(({ event }) => event)).not.toContain('message.delta');
      return stream.events.at(-1)!.data.run;
    };
    expect(await lastOf('streamer refuse')).toMatchObject({
      status: 'error',
      error: { code: 'budget_exceeded' },
    });
    expect(await lastOf('streamer ask')).toMatchObject({
      status: 'needs_review',
      pending_approvals: [{ kind: 'budget', arguments: { budget_id: budgets.get('streamer ask').id } }],
    });
  });

  test('trials end with an error, whatever the action', async () => {
    const { api } = at();
    const dataset = await ok(api.post('/datasets', { name: 'tried' }));
    const input = { message: 'Go', payload: { mock: script } };
    await ok(api.post(`/datasets/${dataset.id}/cases`, { input }));
    for (const action of ['ask', 'wait']) {
      const agent_id = agents.get(`tried ${action}`).id;
      const { id } = await ok(api.post('/experiments', { agent_id, dataset_id: dataset.id, repetitions: 2 }));
      const ended = await until(async () => {
        const experiment = await ok(api.get(`/experiments/${id}`));
        return experiment.state === 'done' && experiment;
      });
      expect(ended).toMatchObject({ cost_nano_usd: 0, unknown_calls: 0 });
      const { data } = await ok(api.get(`/experiments/${id}/trials`));
      const outcomes = data.map(({ outcome, error }: Json) => [outcome, error?.code]).sort();
      expect([action, outcomes]).toEqual([
        action,
        [
          ['completed', undefined],
          ['error', 'budget_exceeded'],
        ],
      ]);
      expect((await budget(`tried ${action}`)).current).toMatchObject({ spent: 600 });
    }
  });

  test('a judge without room in its budget is not called: it gives no score, and says why', async () => {
    const { api } = at();
    const [trial] = await judgedTrials();
    expect(trial).toMatchObject({
      outcome: 'completed',
      score: null,
      scores: [
        { grader: 'llm_judge', value: null, label: 'error', explanation: expect.stringContaining('budget') },
      ],
    });
    expect(judge.requests).toEqual([]);
    expect((await ok(api.get('/charges?purpose=judge'))).data).toEqual([]);
  });

  const refusal = { reason: 'budget_exceeded', budget_id: expect.any(String) };

  test('the test of a model under a used up budget is 412', async () => {
    expectError(await at().api.post(`/llm-configurations/${llm.id}/test`, {}), 412, /no room/, refusal);
  });

  test('an extraction is 412, and one that was accepted already ends with an error', async () => {
    const { api } = at();
    await ok(api.put('/document-intelligence', { provider: 'embedded', settings: {}, llm_id: llm.id }));
    const schema = { type: 'object', properties: { total: { type: 'string' } } };
    const extract = (options: object) =>
      sendForm(api, '/document-intelligence/extract', [
        { name: 'schema', content: JSON.stringify(schema) },
        { name: 'options', content: JSON.stringify(options) },
        { name: 'file', filename: 'a.txt', content: 'Total: 5' },
      ]);
    expectError(await extract({}), 412, /no room/, refusal);
    const begun = await ok(extract({ wait_seconds: 0 }), 202);
    const ended = await until(async () => {
      const found = await ok(api.get(`/extractions/${begun.id}`));
      return found.finished_at !== null && found;
    });
    expect(ended).toMatchObject({ status: 'ERROR', error: { code: 'budget_exceeded' } });
    await ok(api.delete('/document-intelligence'), 204);
  });
});
