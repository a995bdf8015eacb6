import { inputRequired } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { createMigrated } from '../harness/database.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { type Fixture, newAgent, ok, onPostgres, startFixture } from './fixture.ts';
import { answer, elicit, state, useToolInput } from './tool-input-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const asking = (requestState = state) =>
  inputRequired({ inputRequests: { who: elicit('Which?') }, requestState });
const cannot = 'The tool asks for something that agents cannot give: ';

describe('a call that asked for input', () =>
  onPostgres((at) => {
    const { setUp, becomes, start, decide, accept, results, database, next } = useToolInput(at);
    const inputs = (): Promise<Json[]> => at().sql`select from tool_inputs` as Promise<Json[]>;

    test('and has no answer after it was sent again is repeated with the same answers, if a person says so', async () => {
      const bank = await setUp((_, { mcpReq }) => (mcpReq.inputResponses ? 'paid' : asking()), {
        tool: { wire: (n) => (n === 1 ? 'reset' : undefined) },
      });
      const held = await start(bank);
      await ok(decide(held, [accept({ code: answer })]));
      const lost = await becomes(held.id, 'INDETERMINATE');
      expect(lost.pending_approvals).toMatchObject([
        { kind: 'unknown_outcome', arguments: { amount: 5 }, mode: null },
      ]);
      expect(await database()).not.toContain(answer);
      await ok(decide(lost, [accept()]));
      await becomes(held.id, 'COMPLETED');
      const [, sent, again] = bank.server.calls.map(({ params }) => params);
      expect(again).toMatchObject({ inputResponses: sent!.inputResponses, requestState: state });
      expect(JSON.stringify(again)).toContain(answer);
      expect(await results(held.id)).toEqual([expect.objectContaining({ text: 'paid' })]);
      expect(await inputs()).toEqual([]);
    });

    test.each([
      ['changed', false],
      ['changed, and the new one was accepted', true],
    ] as const)('is not made if the definition of its tool %s, and the model is told', async (_, accepts) => {
      const bank = await setUp(() => asking());
      const held = await start(bank);
      bank.server.tools[0]!.description = 'Another one.';
      await ok(at().api.post(`/tool-servers/${bank.id}/discover`));
      if (accepts) {
        const [{ definition_hash }] = (await ok(at().api.get(`/tool-servers/${bank.id}/tools`))).data;
        await ok(at().api.post(`/tool-servers/${bank.id}/tools/pay/accept`, { definition_hash }));
      }
      await ok(decide(held, [accept({ code: answer })]));
      await becomes(held.id, 'COMPLETED');
      expect(await results(held.id)).toEqual([
        expect.objectContaining({
          text: expect.stringMatching(/not called again: .*definition changed/),
          is_error: true,
        }),
      ]);
      expect(bank.server.calls).toHaveLength(1);
      expect(await inputs()).toEqual([]);
    });

    test('is forgotten with a cancel, a restart and a deletion', async () => {
      const bank = await setUp(() => asking());
      const held = await start(bank);
      expect(await inputs()).toHaveLength(1);
      await ok(at().api.post(`/work-items/${held.id}/restart`));
      await next(held);
      expect(await inputs()).toHaveLength(1);
      await ok(at().api.post(`/work-items/${held.id}/cancel`));
      expect(await inputs()).toEqual([]);
    });

    test('gets the approval of a person once, before it asks', async () => {
      const bank = await setUp((_, { mcpReq }) => (mcpReq.inputResponses ? 'paid' : asking()), {
        server: { default_policy: 'require_approval' },
      });
      const held = await start(bank);
      expect(held.pending_approvals).toMatchObject([{ kind: 'tool_call' }]);
      await ok(decide(held, [accept({ amount: 7 })]));
      const asked = await next(held);
      expect(asked.pending_approvals).toMatchObject([{ kind: 'input', arguments: { amount: 7 } }]);
      await ok(decide(asked, [accept({ code: answer })]));
      await becomes(held.id, 'COMPLETED');
      expect(bank.server.calls.map(({ args }) => args)).toEqual([{ amount: 7 }, { amount: 7 }]);
      expect(await results(held.id)).toEqual([
        expect.objectContaining({ text: 'paid', executed_arguments: { amount: 7 } }),
      ]);
    });

    test('ends with an error of the server, the eleventh round, and a state of more than 256 KB', async () => {
      let old = false;
      const bank = await setUp((_, { mcpReq }) => {
        if (mcpReq.inputResponses && old) throw new Error('The state is too old.');
        return asking(String(Number(mcpReq.requestState() ?? 0) + 1));
      });
      let held = await start(bank);
      for (let round = 1; round <= 10; round++) {
        expect(held.pending_approvals[0].round).toBe(round);
        await ok(decide(held, [accept({ code: answer })]));
        if (round < 10) held = await next(held);
      }
      await becomes(held.id, 'COMPLETED');
      expect(await results(held.id)).toEqual([
        expect.objectContaining({ text: `${cannot}input more than 10 times.`, is_error: true }),
      ]);
      const other = await start(bank);
      old = true;
      await ok(decide(other, [accept({ code: answer })]));
      await becomes(other.id, 'COMPLETED');
      expect((await results(other.id))[0]).toMatchObject({ text: 'The state is too old.', is_error: true });
      const large = await setUp(() => asking('x'.repeat(256 * 1024 + 1)));
      const { id } = await start(large, 'COMPLETED');
      expect((await results(id))[0]).toMatchObject({ text: `${cannot}to keep a state of more than 256 KB.` });
      expect(await inputs()).toEqual([]);
    });

    test('with the state alone is repeated within the time of one call, and then has no answer', async () => {
      const only = () => inputRequired({ requestState: state });
      const server = { call_timeout_seconds: 2 };
      const [safe, unsafe] = await Promise.all([
        setUp(only, { server, tool: { annotations: { readOnlyHint: true } } }),
        setUp(only, { server }),
      ]);
      const [one, other] = await Promise.all([start(safe, 'COMPLETED'), start(unsafe, 'INDETERMINATE')]);
      expect((await results(one.id))[0]).toMatchObject({
        is_error: true,
        text: expect.stringMatching(/no answer/),
      });
      expect(other.pending_approvals).toMatchObject([{ kind: 'unknown_outcome' }]);
      for (const { calls } of [safe.server, unsafe.server]) {
        expect(calls.map(({ params }) => params.requestState)).toEqual([undefined, state]);
      }
    });

    test('in a conversation is decided there, and its events have no answer', async () => {
      const bank = await setUp((_, { mcpReq }) => (mcpReq.inputResponses ? 'paid' : asking()));
      const agent = await newTalker(at(), { tool_server_ids: [bank.id] });
      const conversation = await newConversation(at(), { agentId: agent.id });
      const steps = [{ tool: bank.tool, args: { amount: 5 } }, { text: 'Done.' }];
      const stream = await conversation.stream({ content: scripted({ steps }) });
      await stream.ended;
      const { data } = stream.events.find(({ event }) => event === 'approval.requested')!;
      expect(data.approvals).toMatchObject([{ kind: 'input', mode: 'form', round: 1, reason: 'Which?' }]);
      const [{ approval_id }] = data.approvals;
      const decided = await conversation.stream({
        decisions: [{ approval_id, ...accept({ code: answer }) }],
      });
      await decided.ended;
      expect(decided.events.at(-1)!.data.run).toMatchObject({ status: 'completed', answer: 'Done.' });
      expect(JSON.stringify(decided.events)).not.toContain(answer);
      expect(await database()).not.toContain(answer);
      expect(await inputs()).toEqual([]);
    });
  }));

test('input, a form and an address, waits for 30 days, and goes on after a restart with another key', async () => {
  const DATABASE_URL = await createMigrated();
  const days = 30 * 86_400_000;
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) => key.toString('base64'));
  await using server = await startToolServer({ era: 'modern' });
  const url = inputRequired.elicitUrl({ message: 'Log in.', url: 'https://example.com/' } as never);
  const both = () => inputRequired({ inputRequests: { who: elicit('Which?'), url }, requestState: state });
  server.tools = [{ name: 'pay', result: (_, { mcpReq }) => (mcpReq.inputResponses ? 'paid' : both()) }];
  let at: Fixture = await startFixture('embedded', { DATABASE_URL, ENCRYPTION_KEY: keys[0]! });
  try {
    const fields = { name: 'bank', prefix: 'bank', url: server.url, default_policy: 'allow' };
    const { id: server_id } = await ok(at.api.post('/tool-servers', fields));
    const agent = await newAgent(at, { tool_server_ids: [server_id] });
    const steps = [{ tool: 'bank__pay', args: { amount: 5 } }, { text: 'Done.' }];
    const { id } = await ok(at.api.post('/work-items', { agent_id: agent.id, payload: { mock: { steps } } }));
    const becomes = (status: string): Promise<Json> =>
      until(async () => {
        const now: Json = await ok(at.api.get(`/work-items/${id}`));
        return now.status === status && now;
      }, 15_000);
    const held = await becomes('NEEDS_REVIEW');
    const [{ name }] = await at.sql`select current_database() as name`;
    await at.sql`alter database ${sql.ref(name)} set platform.clock_offset_ms = ${sql.lit(String(days))}`;
    await at.test.stop();
    at = await startFixture('embedded', { DATABASE_URL, ENCRYPTION_KEY: [keys[1], keys[0]].join(',') });
    await at.test.stop();
    at = await startFixture('embedded', { DATABASE_URL, ENCRYPTION_KEY: keys[1]! });
    expect(held.pending_approvals.map(({ mode }: Json) => mode)).toEqual(['form', 'url']);
    const decisions = held.pending_approvals.map(({ approval_id, mode }: Json) => ({
      approval_id,
      decision: 'approve',
      ...(mode === 'form' && { arguments: { code: answer } }),
    }));
    await ok(at.api.post(`/work-items/${id}/continue`, { decisions }));
    await becomes('COMPLETED');
    expect(server.calls[1]!.params).toMatchObject({
      inputResponses: {
        who: { action: 'accept', content: { code: answer } },
        url: { action: 'accept' },
      },
      requestState: state,
    });
    expect(await at.sql`select from tool_inputs`).toEqual([]);
  } finally {
    await at.test.stop();
    await dropDatabase(DATABASE_URL);
  }
});
