import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { expectError, faults, newKey, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

describe('what a person decides in a conversation', () =>
  onPostgres((at) => {
    let tools: TestToolServer;
    let agent: { id: string };
    const paid: unknown[] = [];
    /** What happens to a call of `send`, which needs no approval and must not be repeated. */
    let wire: () => 'silence' | 'reset' | undefined;
    beforeAll(async () => {
      tools = await startToolServer();
      tools.tools = [
        {
          name: 'pay',
          inputSchema: amount,
          result: (args) => {
            paid.push(args);
            return { content: [{ type: 'text', text: `paid ${args.amount}` }] };
          },
        },
        { name: 'send', inputSchema: { type: 'object' }, wire: () => wire() },
      ];
      const fields = { name: 'bank', prefix: 'bank', url: tools.url, default_policy: 'require_approval' };
      const { id } = await ok(at().api.post('/tool-servers', fields));
      await ok(at().api.patch(`/tool-servers/${id}/tools/send`, { policy: 'allow' }));
      agent = await newTalker(at(), { tool_server_ids: [id] });
    });
    afterAll(() => tools?.[Symbol.asyncDispose]());

    const talk = (as = at().api) => newConversation(at(), { agentId: agent.id, client: as });
    const asks = (...amounts: number[]) =>
      scripted({
        steps: [
          { text: 'I will pay.', tools: amounts.map((n) => ({ tool: 'bank__pay', args: { amount: n } })) },
          { text: 'Done.' },
        ],
      });

    test('a call waits, and is made once when approved, with other arguments if they were given', async () => {
      paid.length = 0;
      const conversation = await talk();
      const stream = await conversation.stream({ content: asks(5, 7) });
      await stream.ended;
      expect(stream.events.map(({ event }) => event).slice(-3)).toEqual([
        'message.completed',
        'approval.requested',
        'run.completed',
      ]);
      const { run } = stream.events.at(-1)!.data;
      expect(run).toMatchObject({ status: 'needs_review', answer: null, finished_at: null });
      expect(stream.events.at(-2)!.data.approvals).toEqual(run.pending_approvals);
      expect(run.pending_approvals.map((one: Json) => [one.kind, one.tool_name, one.arguments])).toEqual([
        ['tool_call', 'bank__pay', { amount: 5 }],
        ['tool_call', 'bank__pay', { amount: 7 }],
      ]);
      expect(await conversation.get()).toMatchObject({ status: 'needs_review', active_run_id: run.id });
      expect((await conversation.follow(stream.events.length)).status).toBe(204);
      const [first, second] = run.pending_approvals.map((one: Json) => one.approval_id);
      const send = (decisions: object[]) => at().api.post(`${conversation.path}/messages`, { decisions });
      const approve = { approval_id: first, decision: 'approve', arguments: { amount: 6 } };
      expect(faults(await send([approve]))).toEqual(['decisions']);
      expect(faults(await send([approve, approve]))).toEqual(['decisions[1].approval_id']);
      const denied = { approval_id: second, decision: 'deny', reason: 'too much' };
      expect(faults(await send([{ ...approve, arguments: { amount: 'x' } }, denied]))).toEqual([
        'decisions[0].arguments',
      ]);
      expectError(await send([{ ...approve, approval_id: 'gone' }]), 412, /does not wait/, {
        status: 'needs_review',
        run_id: run.id,
        pending_approvals: run.pending_approvals,
      });
      expect(paid).toEqual([]);
      const resumed = await conversation.stream({ decisions: [approve, denied] });
      await resumed.ended;
      expect(paid).toEqual([{ amount: 6 }]);
      const ended = resumed.events.at(-1)!.data.run;
      expect(ended).toMatchObject({ id: run.id, status: 'completed', answer: 'Done.' });
      expect(resumed.events[0]).toMatchObject({ id: stream.events.length + 1, event: 'run.started' });
      const results = ended.messages
        .flatMap(({ content }: Json) => content)
        .filter((p: Json) => p.type === 'tool_result');
      const refusal = 'A person refused this call: too much. Do not repeat it unless they ask for it.';
      expect(results).toMatchObject([
        { text: refusal, is_error: true },
        { text: 'paid 6', executed_arguments: { amount: 6 } },
      ]);
      expectError(await send([approve]), 412, /^.+ approved this at \d\d:\d\d UTC\.$/, {
        status: 'idle',
        pending_approvals: [],
        review: expect.objectContaining({ state: 'decided' }),
      });
      const audited = await ok(
        at().api.get(`/audits?action=conversation.continue&target_id=${conversation.id}`),
      );
      expect(audited.data[0].details.decisions).toHaveLength(2);
    });

    test('a message alone denies the calls with it as the reason, and goes on in the same run', async () => {
      const conversation = await talk();
      const run = await conversation.send({ content: asks(5) });
      const ended = await conversation.send({ content: 'No, wait.' });
      expect(ended).toMatchObject({ id: run.id, status: 'completed' });
      expect(JSON.stringify(ended.messages)).toContain('A person refused this call: No, wait.. Do not');
      expect(ended.messages.filter(({ role }: Json) => role === 'user')).toHaveLength(2);
    });

    test('decisions need the approval_role of the agent; a message only a member', async () => {
      const { id } = await newTalker(at(), {
        tool_server_ids: (await ok(at().api.get(`/agents/${agent.id}`))).tool_server_ids,
        approval_role: 'builder',
      });
      const member = at().as((await newKey(at(), 'member')).value);
      const conversation = await newConversation(at(), { agentId: id, client: member });
      const run = await conversation.send({ content: asks(5) });
      const decisions = [{ approval_id: run.pending_approvals[0].approval_id, decision: 'approve' }];
      expectError(await member.post(`${conversation.path}/messages`, { decisions }), 403, /builder/);
      expect(await conversation.send({ content: 'Then do not.' })).toMatchObject({ status: 'completed' });
    });

    test('a cancelled run gives its calls a result, so that the next message is replied to', async () => {
      const conversation = await talk();
      await conversation.send({ content: asks(5) });
      const cancelled = await ok(at().api.post(`${conversation.path}/cancel`));
      expect(cancelled).toMatchObject({ status: 'cancelled', pending_approvals: [] });
      expect(cancelled.messages.at(-1).content[0]).toMatchObject({ type: 'tool_result', is_error: true });
      paid.length = 0;
      expect(await conversation.send({ content: 'Hello' })).toMatchObject({ status: 'completed' });
      expect(paid).toEqual([]);
    });

    test('a call without an answer, and one whose worker was lost, ask what is to be done', async () => {
      const content = scripted({ steps: [{ tool: 'bank__send' }, { text: 'Sent.' }] });
      wire = () => 'reset';
      const conversation = await talk();
      const run = await conversation.send({ content });
      expect(run).toMatchObject({ status: 'needs_review', error: null });
      expect(run.pending_approvals).toMatchObject([{ kind: 'unknown_outcome', tool_name: 'bank__send' }]);
      wire = () => undefined;
      const decisions = [{ approval_id: run.pending_approvals[0].approval_id, decision: 'approve' }];
      expect(await conversation.send({ decisions })).toMatchObject({ status: 'completed', answer: 'Sent.' });

      wire = () => 'silence';
      const other = await talk();
      const stream = await other.stream({ content });
      await stream.find(({ event }) => event === 'tool.started');
      await at().sql`update conversation_runs set fencing = fencing + 1,
        lease_expires_at = platform_now() - interval '1 second' where conversation_id = ${other.id}`;
      await at().sql`select pg_notify('conversation_runs', '')`;
      await stream.ended;
      const lost = stream.events.at(-1)!.data.run;
      expect(lost).toMatchObject({ status: 'needs_review' });
      expect(lost.pending_approvals).toMatchObject([{ kind: 'unknown_outcome', tool_name: 'bank__send' }]);
      const ended = await other.send({ content: 'Leave it.' });
      expect(ended).toMatchObject({ status: 'completed' });
      expect(JSON.stringify(ended.messages)).toContain('whether it took effect is not known');
      await until(async () => (await other.get()).status === 'idle');
    });
  }));
