import { inputRequired } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { until } from '../harness/wait.ts';

import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { expectError, faults, newKey, ok, onPostgres } from './fixture.ts';
import { answer, elicit, form, state, useToolInput } from './tool-input-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('input that a tool asks for', () =>
  onPostgres((at) => {
    const { setUp, becomes, start, decide, accept, results, database, next } = useToolInput(at);

    test('waits for a person, and goes on with what they answered, which the tool alone gets', async () => {
      let got: Json;
      const bank = await setUp((args, { mcpReq }) => {
        if (!mcpReq.inputResponses) {
          return inputRequired({ inputRequests: { who: elicit('Which code?') }, requestState: state });
        }
        got = { args, responses: mcpReq.inputResponses, state: mcpReq.requestState() };
        return 'paid';
      });
      const held = await start(bank);
      expect(held.review_reason).toBe(`${bank.tool} asks for input.`);
      expect(held.pending_approvals).toEqual([
        {
          approval_id: expect.any(String),
          kind: 'input',
          tool_name: bank.tool,
          tool_server_id: bank.id,
          arguments: { amount: 5 },
          input_schema: form,
          reason: 'Which code?',
          mode: 'form',
          url: null,
          round: 1,
          requested_at: expect.any(String),
          expires_at: null,
        },
      ]);
      // Members see who asks, and no more of the tool server.
      const member = at().as((await newKey(at(), 'member')).value, '/app/api');
      const shownTo = await ok(member.get(`/tool-servers/${bank.id}/host`));
      expect(shownTo).toEqual({ name: expect.any(String), host: new URL(bank.server.url).host });
      expectError(await member.get(`/tool-servers/${bank.id}`), 403);
      const capabilities = bank.server.calls[0]!.params._meta as Json;
      expect(capabilities['io.modelcontextprotocol/clientCapabilities']).toEqual({
        elicitation: { form: {}, url: {} },
      });
      const wrong = async (args: object | undefined, message: RegExp) => {
        const response = await decide(held, [accept(args)]);
        expect(faults(response)).toEqual(['decisions[0].arguments']);
        expect(response.text).toMatch(message);
      };
      await wrong(undefined, /is required/);
      await wrong({}, /code/);
      await wrong({ code: 5 }, /code must be string/);
      await wrong({ code: 'a', other: 1 }, /additional properties \(other\)/);
      await wrong({ code: 'a', mail: 'nobody' }, /mail must be an e-mail address/);
      await wrong({ code: 'a', count: 10 }, /count must be <= 9/);
      await wrong({ code: 'a', color: 'blue' }, /color/);
      await wrong({ code: 'a', sizes: ['xl'] }, /sizes.0/);
      await wrong({ code: 'a'.repeat(64 * 1024) }, /at most 64 KB/);
      const answers = { code: answer, mail: 'ada@example.com', sizes: ['s', 'l'] };
      await ok(decide(held, [accept(answers)]));
      const done = await becomes(held.id, 'COMPLETED');
      expect(got).toEqual({
        args: { amount: 5 },
        responses: { who: { action: 'accept', content: { ...answers, count: 3, sure: true } } },
        state,
      });
      expect(bank.server.calls[1]!.params.requestState).toBe(state);
      expect(await results(held.id)).toEqual([expect.objectContaining({ text: 'paid', is_error: false })]);
      expect(done.usage.tool_calls).toBe(2);
      // It is kept nowhere, and only the names of the fields are.
      expect(await database()).not.toContain(answer);
      expect(await at().sql`select from tool_inputs`).toEqual([]);
      const { data } = await ok(at().api.get(`/audits?target_id=${held.id}&action=work_item.continue`));
      expect(data[0].details).toMatchObject({
        decisions: [{ kind: 'input', decision: 'approve', fields: expect.arrayContaining(['code', 'mail']) }],
        asked_hash: data[0].details.executed_hash,
        changes: [],
      });
      const review = await ok(at().api.get(`/reviews/${held.review_id}`));
      expect(review.approvals[0]).toMatchObject({ decision: 'approve', decision_reason: null });
      expect(review.approvals[0]).not.toHaveProperty('executed_arguments');
    });

    test('shows the fields in the order of the tool server, wherever it is shown', async () => {
      const names = ['zeta', 'a', 'middle', '__proto__', 'bb', 'constructor'];
      const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', title: name }]));
      const asked = { type: 'object', properties, required: ['middle', 'a'] };
      const bank = await setUp((_, { mcpReq }) =>
        mcpReq.inputResponses
          ? 'paid'
          : inputRequired({ inputRequests: { who: elicit('Which?', asked) }, requestState: state }),
      );
      const orders = (approvals: Json): string[][] =>
        approvals.map(({ input_schema }: Json) => Object.keys(input_schema.properties));
      const held = await start(bank);
      const review = () => ok(at().api.get(`/reviews/${held.review_id}`));
      const list = await ok(at().api.get(`/reviews?agent_id=${bank.agentId}`));
      const shown = await ok(at().app.get(`/work-items/${held.id}`));
      const open = await review();
      for (const approvals of [held.pending_approvals, open.approvals, list.data[0].approvals]) {
        expect(orders(approvals)).toEqual([names]);
        expect(approvals[0]).not.toHaveProperty('fields');
        expect(approvals[0].input_schema.required).toEqual(asked.required);
      }
      expect(orders(shown.pending_approvals)).toEqual([names]);
      const unknown = { decisions: [{ approval_id: bank.id, decision: 'deny' }] };
      const refused = await at().api.post(`/work-items/${held.id}/continue`, unknown);
      expect(orders(refused.body.error.pending_approvals)).toEqual([names]);
      await ok(decide(held, [accept({ middle: 'm', a: 'a' })]));
      await becomes(held.id, 'COMPLETED');
      expect(orders((await review()).approvals)).toEqual([names]);

      const talker = await newTalker(at(), { tool_server_ids: [bank.id] });
      const conversation = await newConversation(at(), { agentId: talker.id });
      const steps = [{ tool: bank.tool, args: { amount: 5 } }, { text: 'Done.' }];
      const stream = await conversation.stream({ content: scripted({ steps }) });
      await stream.ended;
      const requested = stream.events.find(({ event }) => event === 'approval.requested')!;
      expect(orders(requested.data.approvals)).toEqual([names]);
      expect(orders(stream.events.at(-1)!.data.run.pending_approvals)).toEqual([names]);
      await ok(at().api.post(`${conversation.path}/cancel`));
    });

    test('is sealed until the call ends', async () => {
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const bank = await setUp(async (_, { mcpReq }) => {
        if (!mcpReq.inputResponses) return inputRequired({ inputRequests: { a: elicit('Which?') } });
        await gate;
        return 'paid';
      });
      const held = await start(bank);
      await ok(decide(held, [accept({ code: answer })]));
      await until(async () => bank.server.calls.length === 2);
      expect(await at().sql`select state from tool_inputs`).toEqual([
        { state: expect.stringMatching(/^v1\./) },
      ]);
      expect(await database()).not.toContain(answer);
      open();
      await becomes(held.id, 'COMPLETED');
      expect(await at().sql`select from tool_inputs`).toEqual([]);
    });

    test('asks three times, for two things, for an address, and with the state alone', async () => {
      const seen: Json[] = [];
      const bank = await setUp((_, { mcpReq }) => {
        seen.push([mcpReq.inputResponses ?? null, mcpReq.requestState() ?? null]);
        switch (mcpReq.requestState()) {
          case undefined:
            return inputRequired({ inputRequests: { a: elicit('A?'), b: elicit('B?') }, requestState: '1' });
          case '1':
            return inputRequired({
              inputRequests: {
                c: inputRequired.elicitUrl({
                  message: 'Log in.',
                  url: 'https://xn--80ak6aa92e.com/x',
                } as never),
              },
              requestState: '2',
            });
          case '2':
            return inputRequired({ inputRequests: { d: elicit('D?') }, requestState: '3' });
          case '3':
            return inputRequired({ requestState: '4' });
          default:
            return 'paid';
        }
      });
      const first = await start(bank);
      expect(first.pending_approvals.map(({ reason, round }: Json) => [reason, round])).toEqual([
        ['A?', 1],
        ['B?', 1],
      ]);
      expectError(
        await decide({ ...first, pending_approvals: [first.pending_approvals[0]] }, [accept({ code: '1' })]),
        422,
      );
      await ok(decide(first, [accept({ code: '1' }), { decision: 'deny', reason: 'No.' }]));
      const second = await next(first);
      expect(second.pending_approvals).toMatchObject([
        { mode: 'url', url: 'https://xn--80ak6aa92e.com/x', input_schema: null, round: 2, reason: 'Log in.' },
      ]);
      expect(faults(await decide(second, [accept({})]))).toEqual(['decisions[0].arguments']);
      // One who still looks at the first is shown what waits now.
      const late = await decide(first, [accept({ code: '1' }), accept({ code: '1' })]);
      expectError(late, 412, / approved this at /, {
        review: await ok(at().api.get(`/reviews/${first.review_id}`)),
        status: 'NEEDS_REVIEW',
        allowed_actions: expect.any(Array),
        pending_approvals: second.pending_approvals,
      });
      await ok(decide(second, [accept()]));
      const third = await next(second);
      expect(third.pending_approvals[0].round).toBe(3);
      // A message alone declines.
      await ok(at().api.post(`/work-items/${first.id}/continue`, { message: 'I do not know.' }));
      await becomes(first.id, 'COMPLETED');
      const content = { code: '1', count: 3, sure: true };
      expect(seen).toEqual([
        [null, null],
        [{ a: { action: 'accept', content }, b: { action: 'decline' } }, '1'],
        [{ c: { action: 'accept' } }, '2'],
        [{ d: { action: 'decline' } }, '3'],
        [null, '4'],
      ]);
    });

    test('gets cancel when no one answers in time', async () => {
      let got: Json;
      const bank = await setUp(
        (_, { mcpReq }) => {
          if (!mcpReq.inputResponses) return inputRequired({ inputRequests: { a: elicit('Which?') } });
          got = mcpReq.inputResponses;
          return 'not paid';
        },
        { agent: { approval_timeout_seconds: 60 } },
      );
      const held = await start(bank);
      await at().sql`update reviews set expires_at = platform_now() where id = ${held.review_id}`;
      await becomes(held.id, 'COMPLETED');
      expect(got).toEqual({ a: { action: 'cancel' } });
    });

    const cannot = (reason: string | RegExp) =>
      expect.stringMatching(
        new RegExp(
          `^The tool asks for something that agents cannot give: .*${typeof reason === 'string' ? reason : reason.source}.*\\.$`,
        ),
      );
    const field = (one: object) => ({ a: elicit('?', { type: 'object', properties: { x: one } }) });
    test.each<[string, object, string]>([
      ['nesting', field({ type: 'object', properties: {} }), 'field "x"'],
      ['references', field({ $ref: 'http://127.0.0.1:9/x' }), 'field "x" has'],
      ['a format', field({ type: 'string', format: 'hostname' }), 'format'],
      [
        'many fields',
        {
          a: elicit('?', {
            type: 'object',
            properties: Object.fromEntries(
              Array.from({ length: 51 }, (_, n) => [`f${n}`, { type: 'string' }]),
            ),
          }),
        },
        'more than 50 fields',
      ],
      ['a large form', field({ type: 'string', description: 'x'.repeat(33 * 1024) }), '32 KB'],
      [
        'http',
        {
          a: {
            method: 'elicitation/create',
            params: { mode: 'url', message: '?', url: 'http://example.com/' },
          },
        },
        'not https',
      ],
      [
        'credentials',
        {
          a: {
            method: 'elicitation/create',
            params: { mode: 'url', message: '?', url: 'https://a:b@example.com/' },
          },
        },
        'credentials',
      ],
      [
        'javascript',
        {
          a: {
            method: 'elicitation/create',
            params: { mode: 'url', message: '?', url: 'javascript:alert(1)' },
          },
        },
        'address',
      ],
      [
        'a long address',
        {
          a: {
            method: 'elicitation/create',
            params: { mode: 'url', message: '?', url: `https://e.com/${'x'.repeat(2_048)}` },
          },
        },
        '2,048',
      ],
      ['NUL', { a: elicit('a\u0000b') }, 'cannot be stored'],
    ])('of %s is an error for the model', async (_, inputRequests, reason) => {
      const bank = await setUp(() => ({ resultType: 'input_required', inputRequests }));
      const { id } = await start(bank, 'COMPLETED');
      expect(await results(id)).toEqual([expect.objectContaining({ text: cannot(reason), is_error: true })]);
      expect(bank.server.calls).toHaveLength(1);
    });
  }));
