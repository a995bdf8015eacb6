import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reviews } from '../../src/reviews/index.ts';
import type { Client } from '../harness/http.ts';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { expectError, newAgent, newKey, ok, onPostgres, time } from './fixture.ts';
import { newPerson } from './people-fixture.ts';
import { browser, signIn } from './sessions-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
/** How often a decision and the expiry race. */
const races = process.env.EVERY_DATABASE ? 200 : 10;
const sentence = (said: string) => new RegExp(`^${said} at \\d\\d:\\d\\d UTC\\.$`);

describe('reviews', () =>
  onPostgres((at) => {
    let tools: TestToolServer;
    let servers: string[];
    let agent: Json;
    const paid: unknown[] = [];
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
        { name: 'send', inputSchema: { type: 'object' }, wire: () => 'reset' },
      ];
      const fields = { name: 'bank', prefix: 'bank', url: tools.url, default_policy: 'require_approval' };
      const { id } = await ok(at().api.post('/tool-servers', fields));
      await ok(at().api.patch(`/tool-servers/${id}/tools/send`, { policy: 'allow' }));
      servers = [id];
      agent = await newAgent(at(), { name: 'Clerk', tool_server_ids: servers });
    });
    afterAll(() => tools?.[Symbol.asyncDispose]());

    const call = (n: number) => ({ tool: 'bank__pay', args: { amount: n } });
    const question = { tool: 'request_review', args: { reason: 'Is it right?' } };
    const item = (id: string): Promise<Json> => ok(at().api.get(`/work-items/${id}`));
    const becomes = (id: string, status: string): Promise<Json> =>
      until(async () => {
        const now = await item(id);
        return now.status === status && now;
      }, 10_000);
    /** A Work Item that waits for people, with what the model does before. */
    const waiting = async (step: object, of = agent): Promise<Json> => {
      const { id } = await ok(
        at().api.post('/work-items', {
          agent_id: of.id,
          work_item_name: 'Invoices',
          payload: { mock: { steps: [step, { text: 'Done.' }] } },
        }),
      );
      return becomes(id, 'NEEDS_REVIEW');
    };
    const review = (id: string, as = at().api): Promise<Json> => ok(as.get(`/reviews/${id}`));
    const decide = (id: string, body: object, as = at().api) => as.post(`/reviews/${id}/decide`, body);
    const decisionsOf = ({ pending_approvals }: Json, decision: 'approve' | 'deny', more: object = {}) => ({
      decisions: pending_approvals.map(({ approval_id }: Json) => ({ approval_id, decision, ...more })),
    });
    const as = async (role: string, more: object = {}): Promise<Client> =>
      at().as((await newKey(at(), role, more)).value);
    const reviews = (): Reviews =>
      at().test.platform.features.list.find(({ tag }) => tag?.name === 'Reviews') as Reviews;
    /** Lets the time of open reviews be over, and waits until they are not due any more. */
    const expire = async (...ids: string[]): Promise<void> => {
      await at().sql`update reviews set expires_at = platform_now() where id = any(${ids}::uuid[])`;
      await until(async () => {
        await reviews().pass();
        const due = await at()
          .sql`select from reviews where id = any(${ids}::uuid[]) and state = 'open' and expires_at is not null`;
        return due.length === 0;
      });
    };
    const auditOf = async (target: string, action: string): Promise<Json> =>
      (await ok(at().api.get(`/audits?target_id=${target}&action=${action}`))).data[0];
    const textsOf = async (id: string): Promise<string> =>
      JSON.stringify((await ok(at().api.get(`/work-items/${id}/messages`))).data);

    test('open with what waits, are decided once, and are kept with what was decided', async () => {
      paid.length = 0;
      const held = await waiting({ tools: [call(5), call(7)] });
      const open = await review(held.review_id);
      expect(open).toEqual({
        id: held.review_id,
        state: 'open',
        source: 'work_item',
        work_item_id: held.id,
        conversation_id: null,
        run_id: null,
        agent: { id: agent.id, name: 'Clerk' },
        name: 'Invoices',
        reason: held.review_reason,
        approvals: held.pending_approvals.map((one: Json) => ({
          ...one,
          decision: null,
          decision_reason: null,
        })),
        required_role: 'builder',
        may_decide: true,
        opened_at: expect.stringMatching(time),
        expires_at: null,
        on_expiry: null,
        escalated_at: null,
        closed_at: null,
        closed_by: null,
        via: null,
        messages: [],
      });
      const [first, second] = held.pending_approvals;
      const decisions = [
        { approval_id: first.approval_id, decision: 'approve', arguments: { amount: 6 } },
        { approval_id: second.approval_id, decision: 'deny', reason: 'too much' },
      ];
      expectError(await decide(open.id, {}), 400);
      expectError(await decide(open.id, { decisions: decisions.slice(1) }), 422);
      const ada = await newPerson(at(), 'builder');
      const closed = await ok(decide(open.id, { decisions }, at().as(ada.value)));
      expect(closed).toMatchObject({
        state: 'decided',
        via: 'api',
        closed_by: { kind: 'person', id: ada.id, name: 'Ada' },
        closed_at: expect.stringMatching(time),
        may_decide: false,
        approvals: [
          { decision: 'approve', arguments: { amount: 5 }, executed_arguments: { amount: 6 } },
          { decision: 'deny', decision_reason: 'too much' },
        ],
      });
      expect(closed.approvals[1]).not.toHaveProperty('executed_arguments');
      expect((await becomes(held.id, 'COMPLETED')).review_id).toBeNull();
      expect(paid).toEqual([{ amount: 6 }]);
      expect(await review(open.id)).toEqual(closed);
      const { details } = await auditOf(held.id, 'work_item.continue');
      expect(details).toMatchObject({ review_id: open.id, via: 'api' });
      expect(details.calls.map((one: Json) => typeof one.asked_hash)).toEqual(['string', 'string']);

      const late = await decide(open.id, { decisions });
      expectError(
        late,
        412,
        sentence('Ada approved this'),
        late.body.error && {
          review: closed,
          status: 'COMPLETED',
          allowed_actions: expect.any(Array),
          pending_approvals: [],
        },
      );
      const again = await at().api.post(`/work-items/${held.id}/continue`, { decisions });
      expectError(again, 412, sentence('Ada approved this'), {
        review: closed,
        status: 'COMPLETED',
        allowed_actions: expect.any(Array),
        pending_approvals: [],
      });
    });

    test('of two who decide at once, by any operation, one wins and the other is told who', async () => {
      for (const second of ['decide', 'continue'] as const) {
        paid.length = 0;
        const held = await waiting({ tools: [call(1)] });
        const approve = decisionsOf(held, 'approve');
        const other = decisionsOf(held, 'deny');
        const responses = await Promise.all([
          decide(held.review_id, approve),
          second === 'decide'
            ? decide(held.review_id, other)
            : at().api.post(`/work-items/${held.id}/continue`, other),
        ]);
        const won = responses.findIndex(({ status }) => status === 200);
        const lost = responses[1 - won]!;
        expect(lost.status, lost.text).toBe(412);
        expect(lost.body.error.message).toMatch(sentence(`.+ ${won === 0 ? 'approved' : 'denied'} this`));
        expect(lost.body.error.review).toEqual(await review(held.review_id));
        await becomes(held.id, 'COMPLETED');
        expect(paid).toHaveLength(won === 0 ? 1 : 0);
      }
    });

    test('are withdrawn by a cancel, a restart and a completion, and by the deletion of the agent', async () => {
      const own = await newAgent(at(), { tool_server_ids: servers });
      for (const action of ['cancel', 'complete', 'restart']) {
        const held = await waiting({ tools: [call(1)] }, own);
        await ok(at().api.post(`/work-items/${held.id}/${action}`));
        const closed = await review(held.review_id);
        expect(closed).toMatchObject({ state: 'withdrawn', via: 'api', approvals: [{ decision: null }] });
        const late = await decide(held.review_id, decisionsOf(held, 'approve'));
        expect(late.status, late.text).toBe(412);
        expect(late.body.error.message).toMatch(/withdrawn at \d\d:\d\d UTC/);
        expect(late.body.error.review).toEqual(closed);
      }
      const held = await waiting({ tools: [call(1)] }, own);
      await ok(at().api.delete(`/agents/${own.id}`), 204);
      expect(await review(held.review_id)).toMatchObject({ state: 'withdrawn', agent: { name: 'tested' } });
      await ok(at().api.delete(`/work-items/${held.id}`), 204);
      expectError(await at().api.get(`/reviews/${held.review_id}`), 404);
    });

    test('are decided by the role that they opened with; a message denies and needs a member', async () => {
      const own = await newAgent(at(), { tool_server_ids: servers, approval_role: 'admin' });
      const held = await waiting({ tools: [call(1)] }, own);
      // A later change lowers nothing.
      await ok(at().api.patch(`/agents/${own.id}`, { approval_role: 'member' }));
      const [member, builder] = [await as('member'), await as('builder')];
      const path = `/work-items/${held.id}/continue`;
      for (const client of [member, builder]) {
        expectError(await decide(held.review_id, decisionsOf(held, 'approve'), client), 403, /admin/);
        expectError(await client.post(path, decisionsOf(held, 'approve')), 403, /admin/);
        expect(await review(held.review_id, client)).toMatchObject({
          required_role: 'admin',
          may_decide: false,
        });
      }
      const list = async (query: string, client: Client) =>
        (await ok(client.get(`/reviews?agent_id=${own.id}&${query}`))).data.map(({ id }: Json) => id);
      expect(await list('may_decide=true', builder)).toEqual([]);
      expect(await list('may_decide=false&kind=tool_call', builder)).toEqual([held.review_id]);
      expect(await list('may_decide=true&state=open&source=work_item', at().api)).toEqual([held.review_id]);
      expect(await list('kind=question', at().api)).toEqual([]);
      expect(await list('source=conversation', at().api)).toEqual([]);
      const reader = await as('admin', { scopes: ['reviews:read'] });
      expect(await list('may_decide=true', reader)).toEqual([]);
      expectError(await decide(held.review_id, { message: 'No.' }, reader), 403);
      const closed = await ok(decide(held.review_id, { message: 'No, wait.' }, member));
      expect(closed).toMatchObject({
        state: 'decided',
        approvals: [{ decision: 'deny', decision_reason: 'No, wait.' }],
      });
      await becomes(held.id, 'COMPLETED');
      const late = await at().api.post(path, { message: 'Now?' });
      expect(late.status).toBe(412);
      expect(late.body.error.message).toMatch(sentence('a member denied this'));
      expect(late.body.error.review).toEqual({ ...closed, messages: [] });
      expectError(await at().as(undefined, '/api/v1').get('/reviews'), 401);
      expect(
        (
          await at()
            .as((await newKey(at(), 'admin')).value, '/api/v1')
            .get('/reviews')
        ).status,
      ).toBe(404);
    });

    test('of a question are answered by any member; who asked for the work may not approve it', async () => {
      const settings = { approver_not_requester: true };
      const own = await newAgent(at(), { tool_server_ids: servers, settings });
      const asked = await waiting({ tools: [question] }, own);
      const { value: memberKey } = await newKey(at(), 'member');
      const member = at().as(memberKey);
      expect(await review(asked.review_id, member)).toMatchObject({
        may_decide: true,
        reason: 'Is it right?',
      });
      const session = await signIn(at(), memberKey);
      const inPage = browser(at(), session.cookie, '/api/v2');
      expect(await ok(decide(asked.review_id, { message: 'Yes.' }, inPage))).toMatchObject({
        via: 'console',
      });
      const late = await decide(asked.review_id, { message: 'No.' }, member);
      expect(late.body.error.message).toMatch(sentence('a member answered this'));
      const held = await waiting({ tools: [call(1)] }, own);
      expect((await review(held.review_id)).may_decide).toBe(false);
      expectError(await decide(held.review_id, decisionsOf(held, 'approve')), 403, /approver_not_requester/);
      const other = await as('builder');
      expect((await review(held.review_id, other)).may_decide).toBe(true);
      await ok(decide(held.review_id, decisionsOf(held, 'deny'), other));
    });

    test('expire as the agent says: calls are denied, the work is cancelled, or it goes on waiting', async () => {
      paid.length = 0;
      const fields = { tool_server_ids: servers, approval_timeout_seconds: 14_400 };
      const [denies, cancels, escalates] = await Promise.all(
        ['deny', 'cancel', 'escalate'].map((approval_timeout_outcome) =>
          newAgent(at(), { ...fields, approval_timeout_outcome }),
        ),
      );
      const [denied, asked, cancelled, escalated] = await Promise.all([
        waiting({ tools: [call(1)] }, denies),
        waiting({ tools: [question] }, denies),
        waiting({ tools: [call(2)] }, cancels),
        waiting({ tools: [call(3)] }, escalates),
      ]);
      const open = await review(denied.review_id);
      expect(Date.parse(open.expires_at) - Date.parse(open.opened_at)).toBe(14_400_000);
      expect(open).toMatchObject({ on_expiry: 'deny', approvals: [{ expires_at: open.expires_at }] });
      expect(denied.pending_approvals[0].expires_at).toBe(open.expires_at);
      await expire(denied.review_id, asked.review_id, cancelled.review_id, escalated.review_id);

      const by = {
        state: 'expired',
        via: 'expiry',
        closed_by: { kind: 'system', id: 'expiry', name: 'expiry' },
      };
      await becomes(denied.id, 'COMPLETED');
      expect(await review(denied.review_id)).toMatchObject({ ...by, approvals: [{ decision: 'deny' }] });
      expect(await textsOf(denied.id)).toContain(
        'No one decided within 4 h: this call was not made. Do not repeat it unless a person asks for it.',
      );
      await becomes(asked.id, 'COMPLETED');
      expect(await review(asked.review_id)).toMatchObject({ ...by, approvals: [{ decision: null }] });
      expect(await textsOf(asked.id)).toContain('"No one replied within 4 h."');
      expect((await item(cancelled.id)).status).toBe('CANCELLED');
      expect(await review(cancelled.review_id)).toMatchObject({ ...by, approvals: [{ decision: null }] });
      expect(await item(escalated.id)).toMatchObject({
        status: 'NEEDS_REVIEW',
        review_id: escalated.review_id,
        pending_approvals: [{ expires_at: null }],
      });
      expect(await review(escalated.review_id)).toMatchObject({
        state: 'open',
        expires_at: null,
        on_expiry: 'escalate',
        escalated_at: expect.stringMatching(time),
        approvals: [{ expires_at: null }],
      });
      const late = await decide(denied.review_id, decisionsOf(denied, 'approve'));
      expect(late.body.error.message).toMatch(/expired at \d\d:\d\d UTC/);
      expect((await auditOf(denied.review_id, 'review.expire')).details).toMatchObject({
        work_item_id: denied.id,
        outcome: 'deny',
        after_seconds: 14_400,
      });
      expect(await auditOf(escalated.review_id, 'review.escalate')).toMatchObject({
        principal: { kind: 'system', id: 'expiry' },
      });
      await ok(decide(escalated.review_id, decisionsOf(escalated, 'approve')));
      await becomes(escalated.id, 'COMPLETED');
      expect(paid).toEqual([{ amount: 3 }]);
    });

    test('are closed once if they expire while someone decides', async () => {
      paid.length = 0;
      const own = await newAgent(at(), { tool_server_ids: servers, approval_timeout_seconds: 60 });
      let approved = 0;
      for (let i = 0; i < races; i++) {
        const held = await waiting({ tools: [call(i)] }, own);
        const [response] = await Promise.all([
          decide(held.review_id, decisionsOf(held, 'approve')),
          expire(held.review_id),
        ]);
        const closed = await review(held.review_id);
        expect(closed.state).toBe(response.status === 200 ? 'decided' : 'expired');
        if (response.status === 200) approved += 1;
        else expect(response.body.error.review).toEqual(closed);
        await becomes(held.id, 'COMPLETED');
        const audited = await at().sql`select action from audits
          where target_id in (${held.id}, ${held.review_id}) and action in ('work_item.continue', 'review.expire')`;
        expect(audited).toHaveLength(1);
      }
      expect(paid).toHaveLength(approved);
    }, 600_000);

    test('a Work Item that a replica of the release before moved gets its review, and one that goes on loses it', async () => {
      const held = await waiting({ tools: [call(1)] });
      // As that replica continues: it knows no reviews.
      await at()
        .sql`update work_items set status = 'ERROR', finished_at = platform_now() where id = ${held.id}`;
      await until(async () => (await review(held.review_id)).state === 'withdrawn', 12_000);
      expect(await review(held.review_id)).toMatchObject({ via: null, closed_by: { kind: 'system' } });
      await at()
        .sql`update work_items set status = 'NEEDS_REVIEW', finished_at = null, updated_at = platform_now() where id = ${held.id}`;
      const again = await until(async () => {
        const { review_id } = await item(held.id);
        return review_id !== null && review(review_id);
      }, 12_000);
      expect(again).toMatchObject({
        state: 'open',
        required_role: 'builder',
        approvals: [{ kind: 'tool_call' }],
      });
      expect(again.id).not.toBe(held.review_id);
      await ok(decide(again.id, decisionsOf(held, 'deny')));
    });

    test('an INDETERMINATE Work Item has one that never expires', async () => {
      const own = await newAgent(at(), { tool_server_ids: servers, approval_timeout_seconds: 60 });
      const steps = [{ tool: 'bank__send' }, { text: 'Done.' }];
      const { id } = await ok(
        at().api.post('/work-items', { agent_id: own.id, payload: { mock: { steps } } }),
      );
      const held = await becomes(id, 'INDETERMINATE');
      expect(await review(held.review_id)).toMatchObject({
        approvals: [{ kind: 'unknown_outcome', tool_name: 'bank__send', expires_at: null }],
        expires_at: null,
        on_expiry: null,
      });
      await ok(decide(held.review_id, { message: 'Go on.' }));
      expect(await review(held.review_id)).toMatchObject({
        state: 'decided',
        approvals: [{ decision: 'deny' }],
      });
    });

    describe('of conversations', () => {
      let talker: Json;
      beforeAll(async () => {
        const timeout = { approval_timeout_seconds: 3_600 };
        talker = await newTalker(at(), { tool_server_ids: servers, ...timeout });
      });
      const asks = (step: object) => scripted({ steps: [step, { text: 'Done.' }] });

      test('are seen by their owner and builders, and decided like messages', async () => {
        paid.length = 0;
        const member = await as('member');
        const conversation = await newConversation(at(), { agentId: talker.id, client: member });
        const run = await conversation.send({ content: asks({ tools: [call(4)] }) });
        const mine = await review(run.review_id, member);
        expect(mine).toMatchObject({
          source: 'conversation',
          work_item_id: null,
          conversation_id: conversation.id,
          run_id: run.id,
          name: (await conversation.get()).name,
          required_role: 'member',
          may_decide: true,
          messages: [],
        });
        expect(run.pending_approvals[0].expires_at).toBe(mine.expires_at);
        const stranger = await as('member');
        expectError(await stranger.get(`/reviews/${run.review_id}`), 404);
        expectError(await decide(run.review_id, { message: 'x' }, stranger), 404);
        const path = `/reviews?agent_id=${talker.id}`;
        expect((await ok(stranger.get(path))).data).toEqual([]);
        expect((await ok(member.get(path))).data).toEqual([mine]);
        const [won, lost] = await Promise.all([
          decide(run.review_id, decisionsOf(run, 'approve'), member),
          member.post(`${conversation.path}/messages`, decisionsOf(run, 'approve')),
        ]).then((both) => both.toSorted((a, b) => a.status - b.status));
        expect([won!.status, lost!.status]).toEqual([200, 412]);
        expect(lost!.body.error.message).toMatch(sentence('a member approved this'));
        const ended = await until(async () => {
          const now = await conversation.get();
          return now.status === 'idle' && now;
        });
        expect(ended.active_run_id).toBeNull();
        expect(paid).toEqual([{ amount: 4 }]);
        expect(lost!.body.error.review).toEqual(await review(run.review_id, member));
        expect((await auditOf(conversation.id, 'conversation.continue')).details).toMatchObject({
          review_id: run.review_id,
          via: 'api',
        });
      });

      test('that a message has denied refuse the next message with who wrote it', async () => {
        const conversation = await newConversation(at(), { agentId: talker.id });
        const steps = [{ tools: [call(1)] }, { text: 'Later.', delay_ms: 60_000 }];
        const run = await conversation.send({ content: scripted({ steps }) });
        const say = (content: string) => at().api.post(`${conversation.path}/messages`, { content });
        const both = [say('No.'), say('Never.')];
        // The other one is responded to when the run ends.
        const refused = await Promise.race(both);
        expect(refused.status, refused.text).toBe(412);
        expect(refused.body.error).toMatchObject({
          message: expect.stringMatching(sentence('.+ denied this')),
          status: 'running',
          run_id: run.id,
          review: { id: run.review_id, state: 'decided', approvals: [{ decision: 'deny' }] },
        });
        await ok(at().api.post(`${conversation.path}/cancel`));
        expect((await Promise.all(both)).map(({ status }) => status).toSorted()).toEqual([200, 412]);
      });

      test('expire in the same way, and are withdrawn with their run', async () => {
        const conversation = await newConversation(at(), { agentId: talker.id });
        for (const step of [{ tools: [call(1)] }, question]) {
          const run = await conversation.send({ content: asks(step) });
          await expire(run.review_id);
          await until(async () => (await conversation.get()).status === 'idle');
          expect(await review(run.review_id)).toMatchObject({ state: 'expired', via: 'expiry' });
        }
        const { data } = await ok(at().api.get(`${conversation.path}/messages`));
        expect(JSON.stringify(data)).toContain('No one decided within 1 h: this call was not made.');
        expect(JSON.stringify(data)).toContain('"No one replied within 1 h."');

        await ok(at().api.patch(`/agents/${talker.id}`, { approval_timeout_outcome: 'cancel' }));
        const second = await conversation.send({ content: asks({ tools: [call(2)] }) });
        await expire(second.review_id);
        expect(await conversation.get()).toMatchObject({ status: 'idle' });
        expect(await review(second.review_id)).toMatchObject({
          state: 'expired',
          approvals: [{ decision: null }],
        });

        const third = await conversation.send({ content: asks({ tools: [call(3)] }) });
        await ok(at().api.post(`${conversation.path}/cancel`));
        expect(await review(third.review_id)).toMatchObject({ state: 'withdrawn', via: 'api' });
        const fourth = await conversation.send({ content: asks({ tools: [call(4)] }) });
        await ok(at().api.delete(conversation.path), 204);
        expectError(await at().api.get(`/reviews/${fourth.review_id}`), 404);
      });
    });

    test('are counted', async () => {
      const metrics = await (await fetch(`${at().test.origin}/metrics`)).text();
      expect(metrics).toMatch(/agent_platform_reviews_open\{source="work_item"\} \d/);
      expect(metrics).toMatch(/agent_platform_review_closings_total\{via="api",state="decided"\} [1-9]/);
      expect(metrics).toMatch(/agent_platform_review_closings_total\{via="expiry",state="expired"\} [1-9]/);
    });
  }));
