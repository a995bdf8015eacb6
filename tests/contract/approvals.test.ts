import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/lib/crypto.ts';
import type { ToolResult } from '../../src/runtime/tools.ts';
import { serveRoutes } from '../harness/api.ts';
import { eachDatabase } from '../harness/database.ts';
import { testFeatures } from '../harness/features.ts';
import { fakeTool, loseLease, makeAgent, newRuntime, type TestRuntime } from '../harness/runtime.ts';
import { testServices } from '../harness/services.ts';
import { until } from '../harness/wait.ts';
import { force } from '../harness/work-items.ts';
import { time } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const properties = { amount: { type: 'number' } };
const schema = { type: 'object', properties, required: ['amount'], additionalProperties: false };
const pay = (amount: unknown) => ({ tool: 'pay', args: { amount } });

eachDatabase((_name, open) => {
  let api: Awaited<ReturnType<typeof serveRoutes>>;
  let runtime: TestRuntime;
  let agent: string;
  /** The calls of `pay`, of `send`. */
  const paid: unknown[] = [];
  const sent: unknown[] = [];
  /** What `send` resolves to. */
  let outcome: () => Promise<ToolResult>;
  const check = (args: unknown) =>
    typeof (args as { amount?: unknown }).amount === 'number' ? null : 'amount must be number';
  const payTool = fakeTool(
    'pay',
    async (args) => {
      paid.push(args);
      return { text: `paid ${JSON.stringify(args)}` };
    },
    { policy: 'require_approval', inputSchema: schema, check, serverId: 'server-1', definitionHash: 'v1' },
  );
  const sendTool = fakeTool('send', (args) => {
    sent.push(args);
    return outcome();
  });

  beforeAll(async () => {
    const services = testServices(open());
    api = await serveRoutes(open(), testFeatures(services).workItems);
    agent = await makeAgent(open());
    runtime = await newRuntime(open(), { tools: [payTool, sendTool] });
    runtime.start();
  });
  afterAll(async () => {
    await runtime?.stop();
    await api?.close();
  });
  beforeEach(() => {
    paid.length = 0;
    sent.length = 0;
    outcome = async () => ({ text: 'sent' });
    payTool.definitionHash = 'v1';
  });

  const read = async (id: string): Promise<Json> => (await api.v2.get(`/work-items/${id}`)).body;
  const becomes = (id: string, status: string): Promise<Json> =>
    until(async () => {
      const item = await read(id);
      return item.status === status && item;
    }, 10_000);
  const start = async (steps: unknown[], status = 'NEEDS_REVIEW'): Promise<Json> => {
    const { body } = await api.v2.post('/work-items', { agent_id: agent, payload: { mock: { steps } } });
    return becomes(body.id, status);
  };
  const proceed = (id: string, body?: unknown, as = api.v2) => as.post(`/work-items/${id}/continue`, body);
  const results = async (id: string): Promise<Json[]> => {
    const { body } = await api.v2.get(`/work-items/${id}/messages`);
    return body.data
      .toReversed()
      .flatMap((message: Json) => message.content)
      .filter((part: Json) => part.type === 'tool_result');
  };

  describe('a call of a tool that requires approval', () => {
    test('waits for a person, with all that they need to decide', async () => {
      const item = await start([{ tools: [pay(5), pay('five'), { tool: 'send' }] }, { text: 'done' }]);
      expect(paid).toEqual([]);
      expect(sent).toHaveLength(1);
      const reason = 'A person must approve each call of pay.';
      const call = { kind: 'tool_call', tool_name: 'pay', tool_server_id: 'server-1' };
      const made = {
        approval_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requested_at: expect.stringMatching(time),
      };
      const asked = { arguments: { amount: 5 }, input_schema: schema, reason, expires_at: null };
      const noInput = { mode: null, url: null, round: null };
      expect(item.pending_approvals).toEqual([{ ...call, ...made, ...asked, ...noInput }]);
      expect(item.review_reason).toBe(reason);
      // The wrong one is the model's to correct, the free one was made at once.
      const wrong = 'The tool was not called: the arguments are wrong: amount must be number';
      const texts = (await results(item.id)).map(({ text, is_error }) => [text, is_error]);
      expect(texts).toEqual([
        [wrong, true],
        ['sent', false],
      ]);
      expect(item.usage).toMatchObject({ model_calls: 1, tool_calls: 1 });
    });

    test('is made once when approved, with the arguments that the person gave; the model is told', async () => {
      const item = await start([{ tools: [pay(5), pay(7)] }]);
      const [first, second] = item.pending_approvals;
      const decisions = [
        { approval_id: second.approval_id, decision: 'approve' },
        { approval_id: first.approval_id, decision: 'approve', arguments: { amount: 1 } },
      ];
      const response = await proceed(item.id, { decisions });
      expect(response.body).toMatchObject({ status: 'PENDING', pending_approvals: [], review_reason: null });
      const done = await becomes(item.id, 'COMPLETED');
      expect(paid).toHaveLength(2);
      expect(paid).toEqual(expect.arrayContaining([{ amount: 1 }, { amount: 7 }]));
      expect(done.result).toContain(
        'A person changed the arguments of this call before it was made, to: {"amount":1}\n\npaid {"amount":1}',
      );
      const executed = (await results(item.id)).flatMap(({ executed_arguments: one }) => one ?? []);
      expect(executed).toEqual([{ amount: 1 }]);
    });

    test('is not made when denied, and the model is told why', async () => {
      const item = await start([{ tools: [pay(5), pay(6)] }]);
      const [a, b] = item.pending_approvals;
      const decisions = [
        { approval_id: a.approval_id, decision: 'deny', reason: 'too much' },
        { approval_id: b.approval_id, decision: 'deny' },
      ];
      expect((await proceed(item.id, { decisions })).status).toBe(200);
      const done = await becomes(item.id, 'COMPLETED');
      expect(paid).toEqual([]);
      for (const why of [': too much', '']) {
        const told = `pay: A person refused this call${why}. Do not repeat it unless they ask for it.`;
        expect(done.result).toContain(told);
      }
    });

    test('is denied by a message, which follows the results; a member may do that', async () => {
      const item = await start([{ tools: [pay(5), pay(6)] }]);
      const decisions = [{ approval_id: item.pending_approvals[0].approval_id, decision: 'approve' }];
      expect((await proceed(item.id, { decisions, message: 'only one' })).status).toBe(200);
      await becomes(item.id, 'COMPLETED');
      expect(paid).toEqual([{ amount: 5 }]);
      const other = await start([pay(9)]);
      expect((await proceed(other.id, { message: 'no' }, api.as('m', 'member'))).status).toBe(200);
      await becomes(other.id, 'COMPLETED');
      expect(paid).toEqual([{ amount: 5 }]);
      const { body } = await api.v2.get(`/work-items/${other.id}/messages`);
      const texts = body.data
        .toReversed()
        .map(({ role, content }: Json) => `${role}: ${content.at(-1).text}`);
      const at = texts.findIndex((text: string) => text.startsWith('tool: '));
      expect(texts.slice(at, at + 2)).toEqual([
        'tool: A person refused this call: no. Do not repeat it unless they ask for it.',
        'user: no',
      ]);
    });

    test('is asked about again if the definition of the tool changed, and not made', async () => {
      const item = await start([pay(5)]);
      const [{ approval_id }] = item.pending_approvals;
      payTool.definitionHash = 'v2';
      await proceed(item.id, { decisions: [{ approval_id, decision: 'approve' }] });
      const asked = await until(async () => {
        const now = await read(item.id);
        return now.status === 'NEEDS_REVIEW' && now;
      });
      expect(paid).toEqual([]);
      const [again] = asked.pending_approvals;
      expect(again).toMatchObject({ kind: 'tool_call', arguments: { amount: 5 } });
      expect(again.approval_id).not.toBe(approval_id);
      expect(again.reason).toContain('changed');
      await proceed(item.id, { decisions: [{ approval_id: again.approval_id, decision: 'approve' }] });
      await becomes(item.id, 'COMPLETED');
      expect(paid).toEqual([{ amount: 5 }]);
    });
  });

  describe('decisions', () => {
    test('require the approval role of the agent, and change nothing without it', async () => {
      const item = await start([pay(5)]);
      const [{ approval_id }] = item.pending_approvals;
      const decisions = [{ approval_id, decision: 'approve' }];
      expect((await proceed(item.id, { decisions }, api.as('m', 'member'))).status).toBe(403);
      expect((await read(item.id)).pending_approvals).toHaveLength(1);
      expect((await proceed(item.id, { decisions }, api.as('b', 'builder'))).status).toBe(200);
      await becomes(item.id, 'COMPLETED');
    });

    test('are all or nothing', async () => {
      const item = await start([{ tools: [pay(5), pay(6)] }]);
      const [a, b] = item.pending_approvals.map(({ approval_id }: Json) => approval_id);
      const approve = (approval_id: unknown, more = {}) => ({ approval_id, decision: 'approve', ...more });
      const wrong = [
        undefined,
        [],
        [approve(a)],
        [approve(a), approve(a), approve(b)],
        [approve(a), approve(b, { arguments: [] })],
        [approve(a), approve(b, { arguments: { amount: 'x' } })],
        [approve(a), { approval_id: b, decision: 'deny', arguments: { amount: 1 } }],
      ];
      for (const decisions of wrong) {
        const { status } = await proceed(item.id, decisions && { decisions });
        expect([status, decisions]).toEqual([422, decisions]);
      }
      const { status, body } = await proceed(item.id, { decisions: [approve(a), approve('unknown')] });
      expect(status).toBe(412);
      expect(body.error).toMatchObject({ code: 'precondition_failed', status: 'NEEDS_REVIEW' });
      expect(body.error.pending_approvals).toEqual(item.pending_approvals);
      expect((await proceed(item.id, {})).body.error.details).toMatchObject([{ path: 'decisions' }]);
      expect(await read(item.id)).toEqual(item);
      expect(await results(item.id)).toEqual([]);
      expect(paid).toEqual([]);
    });

    test('while nothing waits are 412, also the second of two at once: one call is made', async () => {
      for (let round = 1; round <= 5; round++) {
        const item = await start([pay(round)]);
        const [{ approval_id }] = item.pending_approvals;
        const decisions = [{ approval_id, decision: 'approve' }];
        const responses = await Promise.all(Array.from({ length: 4 }, () => proceed(item.id, { decisions })));
        expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
        const late = responses.find(({ status }) => status === 412)!;
        expect(late.body.error).toMatchObject({ pending_approvals: [] });
        // The requests that are refused do not keep a worker from it.
        await becomes(item.id, 'COMPLETED');
        expect(paid).toHaveLength(round);
        expect((await proceed(item.id, { decisions })).status).toBe(412);
      }
    });

    test('what a replica of the release before left behind is neither shown nor asked', async () => {
      const item = await start([pay(6)]);
      await force(open(), item.id, 'ERROR');
      expect(await read(item.id)).toMatchObject({ pending_approvals: [], review_reason: null });
      const [{ approval_id }] = item.pending_approvals;
      const decisions = [{ approval_id, decision: 'approve' }];
      expect((await proceed(item.id, { decisions })).status).toBe(412);
      expect((await proceed(item.id, {})).status).toBe(200);
      const again = await becomes(item.id, 'NEEDS_REVIEW');
      expect(again.pending_approvals).toMatchObject([{ arguments: { amount: 6 } }]);
      expect(again.pending_approvals[0].approval_id).not.toBe(approval_id);
      expect(paid).toEqual([]);
    });

    test('are audited, with hashes of the arguments and what a person changed', async () => {
      const item = await start([pay(5)]);
      const [{ approval_id }] = item.pending_approvals;
      const decisions = [{ approval_id, decision: 'approve', arguments: { amount: 4_711 } }];
      await proceed(item.id, { decisions });
      await becomes(item.id, 'COMPLETED');
      const { rows } = await open().run((executor) =>
        sql<{ details: Json }>`select details from audits
          where action = 'work_item.continue' and target_id = ${item.id}`.execute(executor),
      );
      expect(rows[0]!.details.decisions).toEqual([
        { approval_id, kind: 'tool_call', tool_name: 'pay', decision: 'approve', edited: true },
      ]);
      // SHA-256 of the canonical JSON (RFC 8785).
      expect(rows[0]!.details).toMatchObject({
        asked_hash: sha256('{"amount":5}'),
        executed_hash: sha256('{"amount":4711}'),
        changes: [{ path: 'amount', from: 5, to: 4_711 }],
      });
    });
  });

  describe('a question', () => {
    test('is answered by a message, not by a decision', async () => {
      const item = await start([{ tools: [{ tool: 'request_review', args: { reason: 'sure?' } }, pay(1)] }]);
      expect(item).toMatchObject({
        review_reason: 'sure?',
        pending_approvals: [{ kind: 'question', tool_name: 'request_review', reason: 'sure?' }],
      });
      const [{ approval_id }] = item.pending_approvals;
      const decisions = [{ approval_id, decision: 'approve' }];
      expect((await proceed(item.id, { decisions })).status).toBe(422);
      expect((await proceed(item.id, { message: 'yes' })).status).toBe(200);
      const done = await becomes(item.id, 'COMPLETED');
      expect(done.result).toContain('answer to: yes');
      expect(paid).toEqual([]);
    });
  });

  describe('a call whose outcome is not known', () => {
    const unanswered = async (): Promise<ToolResult> => ({ text: '', outcomeUnknown: true });

    test('makes the Work Item INDETERMINATE; approving it makes the call again', async () => {
      outcome = unanswered;
      const item = await start([{ tool: 'send', args: { to: 'x' } }], 'INDETERMINATE');
      expect(item.error.code).toBe('tool_outcome_unknown');
      expect(item.pending_approvals).toMatchObject([
        { kind: 'unknown_outcome', tool_name: 'send', arguments: { to: 'x' } },
      ]);
      outcome = async () => ({ text: 'sent at last' });
      const [{ approval_id }] = item.pending_approvals;
      await proceed(item.id, { decisions: [{ approval_id, decision: 'approve' }] });
      const done = await becomes(item.id, 'COMPLETED');
      expect(done.result).toContain('sent at last');
      expect(sent).toEqual([{ to: 'x' }, { to: 'x' }]);
    });

    test('is asked about in the order of the reply, whichever ended first', async () => {
      let endFirst = () => {};
      const second = new Promise<void>((resolve) => {
        endFirst = resolve;
      });
      outcome = async () => {
        if (sent.length === 1) await second;
        else setImmediate(endFirst);
        return unanswered();
      };
      const calls = [1, 2].map((n) => ({ tool: 'send', args: { n } }));
      const item = await start([{ tools: calls }], 'INDETERMINATE');
      expect(item.pending_approvals.map((asked: Json) => asked.arguments)).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('is not made again when denied, or when nothing is said', async () => {
      for (const body of [{}, { deny: true }]) {
        outcome = unanswered;
        const item = await start([{ tool: 'send' }], 'INDETERMINATE');
        const [{ approval_id }] = item.pending_approvals;
        const decisions = 'deny' in body ? [{ approval_id, decision: 'deny', reason: 'I looked' }] : [];
        expect((await proceed(item.id, { decisions })).status).toBe(200);
        const done = await becomes(item.id, 'COMPLETED');
        expect(done.result).toContain('whether it took effect is not known');
        if ('deny' in body) expect(done.result).toContain('A person refused this call: I looked.');
      }
      expect(sent).toHaveLength(2);
    });

    test('is asked about as well when the worker is lost in the middle of it', async () => {
      outcome = () => new Promise(() => {});
      const steps = [{ tools: [{ tool: 'send', args: { n: 1 } }, pay(3)] }];
      const { body } = await api.v2.post('/work-items', { agent_id: agent, payload: { mock: { steps } } });
      await until(() => sent.length === 1);
      await loseLease(open(), body.id);
      const item = await becomes(body.id, 'INDETERMINATE');
      expect(item.pending_approvals).toMatchObject([
        { kind: 'unknown_outcome', tool_name: 'send', arguments: { n: 1 }, expires_at: null },
      ]);
      expect(item.pending_approvals[0].requested_at).toMatch(/^\d{4}-.*Z$/);
      expect((await proceed(item.id, {})).status).toBe(200);
      // The other call was never made: now people are asked about it.
      const asked = await becomes(item.id, 'NEEDS_REVIEW');
      expect(asked.pending_approvals).toMatchObject([{ kind: 'tool_call', tool_name: 'pay' }]);
      expect(sent).toHaveLength(1);
    });
  });
});
