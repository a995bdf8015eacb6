import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Reviews } from '../../src/reviews/index.ts';
import { type FakeSlack, slackRequest, slackTokens, startSlack } from '../harness/slack.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { decide, newChannel, newExternal, newReview, newRoute } from './channels-fixture.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { ok, onPostgres } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const races = process.env.EVERY_DATABASE ? 200 : 10;

const pay = (args: object = { amount: 5 }) => ({
  kind: 'tool_call',
  tool_name: 'bank__pay',
  arguments: args,
});
const buttonsOf = ({ blocks }: Json): string[] =>
  blocks.flatMap((block: Json) =>
    block.type === 'actions' ? block.elements.map(({ text }: Json) => text.text) : [],
  );

describe('Slack', () =>
  onPostgres((at) => {
    let slack: FakeSlack;
    let agent: Json;
    let channel: Json;
    let people = 0;
    beforeAll(async () => {
      slack = await startSlack();
      agent = await newExternal(at());
      channel = await newChannel(at(), 'slack', { ...slackTokens, api_url: slack.url, conversation: 'C1' });
      await newRoute(at(), agent.id, [{ channel_id: channel.id, to: 'channel' }]);
      await until(() => slack.sockets.size === 1);
    });
    afterAll(() => slack?.[Symbol.asyncDispose]());
    beforeEach(() => {
      slack.ephemerals.length = 0;
    });

    /** A person here, and an account in Slack with the same e-mail. */
    const person = async (role = 'builder', account: object = {}, here: object = {}): Promise<Json> => {
      const { id } = await newPerson(at(), role);
      const email = `p${++people}@example.com`;
      const { verified = true } = here as { verified?: boolean };
      await at().sql`update users set email = ${email}, email_verified = ${verified} where id = ${id}`;
      const user = `U${people}`;
      slack.users.set(user, {
        id: user,
        team_id: 'T1',
        is_email_confirmed: true,
        profile: { email: email.toUpperCase() },
        ...account,
      });
      return { id, user, email };
    };
    const review = (id: string): Promise<Json> => ok(at().api.get(`/reviews/${id}`));
    /** A review, and its message. */
    const announced = async (approvals: object[] = [pay()], of = agent): Promise<[Json, Json]> => {
      const made = await newReview(at(), of.id, approvals);
      const message = await until(() => slack.messages.find((one) => JSON.stringify(one).includes(made.id)));
      await until(async () => (await review(made.id)).messages[0].state === 'delivered');
      return [made, message];
    };
    const click = (message: Json, action: string, user: string) =>
      slack.deliver(slack.payload(message, action, user));
    const audits = async (id: string, action: string): Promise<Json[]> =>
      (await ok(at().api.get(`/audits?target_id=${id}&action=${action}`))).data;

    test('a person whom Slack vouches for decides by a click, once, and the message shows who', async () => {
      const ada = await person();
      const [made, message] = await announced();
      expect(buttonsOf(message)).toEqual(['Approve', 'Deny', 'Open']);
      expect(JSON.stringify(message.blocks)).toContain('\\"amount\\": 5');
      const before = { ...message };
      expect(await click(message, 'approve', ada.user)).toBe(true);
      const decided = await review(made.id);
      expect(decided).toMatchObject({
        state: 'decided',
        via: 'slack',
        closed_by: { kind: 'person', id: ada.id },
      });
      await until(() => message.edits === 1);
      expect(JSON.stringify(message.blocks)).toMatch(/Approved by Ada, \d\d:\d\d UTC/);
      expect(buttonsOf(message)).toEqual(['Open']);
      const [entry] = await audits(made.work_item_id, 'work_item.continue');
      expect(entry).toMatchObject({
        principal: { id: ada.id },
        context: { via: 'channel' },
        details: { via: 'slack', review_id: made.id, channel_id: channel.id, channel_user: ada.user },
      });
      expect(await click(before, 'approve', ada.user)).toBe(true);
      expect(slack.ephemerals).toEqual([]);
      const bob = await person();
      await click(before, 'deny', bob.user);
      await until(() => slack.ephemerals.length === 1);
      expect(slack.ephemerals[0]).toMatchObject({
        user: bob.user,
        text: expect.stringMatching(/^Ada approved this at \d\d:\d\d UTC\.$/),
      });
      expect((await review(made.id)).closed_by.id).toBe(ada.id);
    });

    test('a denial tells the model so, and a copy that no one knows is updated by its click', async () => {
      const ada = await person();
      const [made, message] = await announced([pay(), pay({ amount: 6 })]);
      expect(buttonsOf(message)).toEqual(['Approve all', 'Deny all', 'Open']);
      const copy = { ...message, ts: '1700000000.999999', edits: 0 };
      slack.messages.push(copy);
      await click(copy, 'deny', ada.user);
      const { approvals } = await review(made.id);
      expect(approvals.map(({ decision_reason }: Json) => decision_reason)).toEqual([
        'Denied in Slack.',
        'Denied in Slack.',
      ]);
      await until(() => copy.edits === 1 && message.edits === 1);
      expect(JSON.stringify(copy.blocks)).toContain('Denied by Ada');
    });

    test.each<[string, object, object, RegExp]>([
      ['of another workspace', { team_id: 'T2' }, {}, /another workspace/],
      ['who is a stranger', { is_stranger: true }, {}, /another workspace/],
      ['who is deactivated', { deleted: true }, {}, /deactivated/],
      ['who is a bot', { is_bot: true }, {}, /bot/],
      ['whose e-mail Slack has not confirmed', { is_email_confirmed: false }, {}, /not confirmed/],
      ['without an e-mail', { profile: {} }, {}, /does not tell/],
      ['whom nobody here is', { profile: { email: 'nobody@example.com' } }, {}, /No one here/],
      ['whose e-mail is not verified here', {}, { verified: false }, /not verified/],
      ['who is suspended', {}, { status: 'suspended' }, /suspended/],
      ['who was not confirmed for long', {}, { unconfirmed: true }, /Sign in once/],
      ['without a role', {}, { role: null }, /no role/],
      [
        'with a role that is too low',
        {},
        { role: 'member' },
        /^Deciding requires the role builder; you are member\.$/,
      ],
      ['who is invited too', {}, { twice: true }, /More than one/],
    ])('someone %s decides nothing, and alone is told why', async (_who, account, here: Json, why) => {
      const one = await person('builder', account, here);
      if ('status' in here) await at().sql`update users set status = ${here.status} where id = ${one.id}`;
      if ('role' in here) await at().sql`update users set role = ${here.role} where id = ${one.id}`;
      if (here.unconfirmed) {
        await at()
          .sql`update users set last_confirmed_at = platform_now() - interval '31 days' where id = ${one.id}`;
      }
      if (here.twice) await ok(at().api.post('/users', { email: `x${one.email}`, role: 'member' }));
      if (here.twice) await at().sql`update users set email = ${one.email} where email = ${`x${one.email}`}`;
      const [made, message] = await announced();
      await click(message, 'approve', one.user);
      await click(message, 'approve', one.user);
      expect((await review(made.id)).state).toBe('open');
      await until(() => slack.ephemerals.length === 2);
      expect(slack.ephemerals[0]).toMatchObject({ user: one.user, text: expect.stringMatching(why) });
      expect(JSON.stringify(slack.ephemerals[0]!.blocks)).toContain(`/approve/${made.id}`);
      const refusals = await audits(made.id, 'review.refuse');
      expect(refusals).toHaveLength(1);
      expect(refusals[0]).toMatchObject({ outcome: 'refused', details: { channel_user: one.user } });
      expect(message.edits).toBe(0);
    });

    test('a member decides nothing in the conversation of another', async () => {
      const bob = await person('member');
      const server = await startToolServer({ tools: [{ name: 'pay' }] });
      const tools = await ok(at().api.post('/tool-servers', { name: 'T', prefix: 't', url: server.url }));
      const talker = await newTalker(at(), { tool_server_ids: [tools.id], approval_role: 'member' });
      const steps = [{ channel_id: channel.id, to: 'channel' }];
      await newRoute(at(), talker.id, steps, {
        match: { agent_ids: [talker.id], sources: ['conversation'] },
      });
      const conversation = await newConversation(at(), { agentId: talker.id });
      const script = { steps: [{ tools: [{ tool: 't__pay', args: {} }] }, { text: 'Done.' }] };
      const run = await conversation.send({ content: scripted(script) });
      const message = await until(() =>
        slack.messages.find((one) => JSON.stringify(one).includes(run.review_id)),
      );
      expect(buttonsOf(message)).toEqual(['Approve', 'Deny', 'Open']);
      await click(message, 'approve', bob.user);
      await until(() => slack.ephemerals.length === 1);
      expect(slack.ephemerals[0]).toMatchObject({
        user: bob.user,
        text: 'You do not see this review, or it does not exist any more.',
      });
      expect(await review(run.review_id)).toMatchObject({ state: 'open', required_role: 'member' });
      const builder = await person();
      await click(message, 'approve', builder.user);
      expect(await review(run.review_id)).toMatchObject({ state: 'decided', closed_by: { id: builder.id } });
      await server[Symbol.asyncDispose]();
    });

    test('no one decides while Slack does not say who clicks', async () => {
      const ada = await person();
      const [made, message] = await announced();
      slack.fail('users.info', { status: 500 });
      await click(message, 'approve', ada.user);
      await until(() => slack.ephemerals.length === 1);
      slack.fail('users.info', null);
      expect(slack.ephemerals[0]!.text).toMatch(/^Slack did not say who you are\./);
      expect((await review(made.id)).state).toBe('open');
      await click(message, 'approve', ada.user);
      expect((await review(made.id)).state).toBe('decided');
    });

    test('there are buttons only for what is shown whole, and hostile text is nothing but text', async () => {
      const whole = async (approvals: object[]) => buttonsOf((await announced(approvals))[1]);
      expect(await whole([pay({ text: 'x'.repeat(2_900) })])).toEqual(['Open']);
      expect(await whole([{ kind: 'question', reason: 'Is it right?' }])).toEqual(['Open']);
      expect(await whole(Array.from({ length: 11 }, () => pay()))).toEqual(['Open']);
      const hostile = '<!channel> <https://evil.example|x> *b* \u202e@here';
      const [, message] = await announced([pay({ note: hostile, big: 'y'.repeat(100_000) })]);
      expect(message.text).not.toMatch(/<|\u202e/);
      const types = JSON.stringify(message.blocks).match(/"type":"[a-z_]+"/g)!;
      expect(new Set(types)).not.toContain('"type":"mrkdwn"');
      expect(JSON.stringify(message.blocks)).not.toMatch(/[\u202a-\u202e]/);
    });

    test('a person gets a direct message, and one without an account is a message that failed', async () => {
      const [ada, lost] = [await person(), await person()];
      slack.users.get(ada.user)!.profile.email = ada.email;
      slack.users.delete(lost.user);
      const other = await newExternal(at());
      await newRoute(at(), other.id, [{ channel_id: channel.id, to: { user_ids: [ada.id, lost.id] } }]);
      const made = await newReview(at(), other.id, [pay()]);
      const messages: Json[] = await until(async () => {
        const all = (await review(made.id)).messages;
        return all.every(({ state }: Json) => state !== 'pending') && all;
      });
      expect(messages.map(({ state }) => state)).toEqual(['delivered', 'failed']);
      expect(messages[1].last_error).toMatch(/no account in Slack/);
      expect(slack.messages.at(-1)!.channel).toBe(`D${ada.user}`);
      expect((await ok(at().api.get(`/channels/${channel.id}`))).state).toBe('ok');
    });

    test('a message that was deleted in Slack counts as delivered, and 429 is obeyed', async () => {
      const [made, message] = await announced();
      slack.messages.splice(slack.messages.indexOf(message), 1);
      await ok(decide(at(), made, 'approve'));
      await until(async () => (await review(made.id)).messages[0].attempts === 2);
      await until(async () => (await review(made.id)).messages[0].state === 'delivered');
      slack.fail('chat.postMessage', { status: 429, headers: { 'retry-after': '600' } });
      const late = await newReview(at(), agent.id, [pay()]);
      const waiting = await until(async () => {
        const [one] = (await review(late.id)).messages;
        return one.last_error && one;
      });
      expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now() + 500_000);
      slack.fail('chat.postMessage', null);
      const tested = await ok(at().api.post(`/channels/${channel.id}/test`));
      expect(tested.steps.map(({ step, ok }: Json) => `${step} ${ok}`)).toEqual([
        'resolve true',
        'connect true',
        'authenticate true',
        'scopes true',
        'socket true',
        'message true',
      ]);
      await until(async () => (await review(late.id)).messages[0].state === 'delivered');
    });

    test('the connection is opened again after it was lost and refused', async () => {
      for (const how of [{ status: 503 }, { error: 'invalid_auth' }, null] as const) {
        slack.fail('apps.connections.open', how);
        const asked = slack.calls.length;
        for (const socket of slack.sockets) socket.terminate();
        await until(() => slack.calls.slice(asked).includes('apps.connections.open'));
        slack.fail('apps.connections.open', null);
        await until(() => slack.sockets.size === 1);
      }
      const ada = await person();
      const [made, message] = await announced();
      expect(await click(message, 'approve', ada.user)).toBe(true);
      expect((await review(made.id)).state).toBe('decided');
    });

    test('the connection is opened again after Slack fell silent, at its opening and later', async () => {
      slack.fail('socket', 'hang');
      for (const socket of slack.sockets) socket.terminate();
      await until(() => slack.sockets.size === 0);
      await sleep(500);
      slack.fail('socket', null);
      await until(() => slack.sockets.size === 1, 40_000);
      // It is open, and nothing comes: neither pings nor responses to pings.
      const [silent] = slack.sockets;
      (silent as unknown as { _socket: Socket })._socket.pause();
      await until(() => [...slack.sockets].some((socket) => socket !== silent), 60_000);
      silent!.terminate();
      const ada = await person();
      const [made, message] = await announced();
      await until(() => slack.sockets.size === 1);
      expect(await click(message, 'approve', ada.user)).toBe(true);
      expect((await review(made.id)).state).toBe('decided');
    }, 180_000);

    test('a click at the instant at which its review expires: one of both counts, once', async () => {
      const ada = await person();
      const own = await newExternal(at());
      await ok(at().api.patch(`/agents/${own.id}`, { approval_timeout_seconds: 60 }));
      await newRoute(at(), own.id, [{ channel_id: channel.id, to: 'channel' }]);
      const states = new Set<string>();
      for (let i = 0; i < races; i++) {
        const [made, message] = await announced([pay()], own);
        const expired = async () => {
          await sleep(i % 10);
          await at().sql`update reviews set expires_at = platform_now() where id = ${made.id}`;
          await (
            at().test.platform.features.list.find(({ tag }) => tag?.name === 'Reviews') as Reviews
          ).pass();
        };
        await Promise.all([click(message, 'approve', ada.user), expired()]);
        const closed = await until(async () => {
          const now = await review(made.id);
          return now.state !== 'open' && now;
        });
        states.add(closed.state);
        const isDecided = closed.state === 'decided';
        expect(closed).toMatchObject({ via: isDecided ? 'slack' : 'expiry' });
        const done = await audits(made.work_item_id, 'work_item.continue');
        const expiries = await audits(made.id, 'review.expire');
        expect([done.length, expiries.length]).toEqual(isDecided ? [1, 0] : [0, 1]);
        await until(() => message.edits >= 1);
      }
      if (races > 50) expect(states.size).toBe(2);
    }, 600_000);

    test('a signed request over HTTP decides; anything else is the same 401', async () => {
      const secret = 'signing-secret';
      const http = await newChannel(at(), 'slack', {
        bot_token: slackTokens.bot_token,
        signing_secret: secret,
        api_url: slack.url,
        conversation: 'C2',
      });
      const other = await newExternal(at());
      await newRoute(at(), other.id, [{ channel_id: http.id, to: 'channel' }]);
      const ada = await person();
      const [made, message] = await announced([pay()], other);
      const payload = slack.payload(message, 'approve', ada.user);
      const send = (request: object, url = http.interactions_url) => fetch(url, request as RequestInit);
      const good = slackRequest(payload, secret);
      const bodies = new Set<string>();
      for (const [request, url] of [
        [slackRequest(payload, 'wrong')],
        [slackRequest(payload, secret, Date.now() - 301_000)],
        // Its seconds are rounded down, and the request takes a moment.
        [slackRequest(payload, secret, Date.now() + 302_000)],
        [{ ...good, body: `${good.body}x` }],
        [{ ...good, body: 'x'.repeat(300_000) }],
        [{ ...good, headers: {} }],
        [{ ...good, method: 'PUT' }],
        [good, http.interactions_url.replace(http.id, channel.id)],
        [good, http.interactions_url.replace(http.id, made.id)],
      ] as [object, string?][]) {
        const response = await send(request, url);
        expect(response.status).toBe(401);
        const { error_id: _, ...error } = ((await response.json()) as Json).error;
        bodies.add(JSON.stringify(error));
      }
      expect(bodies.size).toBe(1);
      expect((await review(made.id)).state).toBe('open');
      expect((await send(good)).status).toBe(200);
      expect((await review(made.id)).state).toBe('decided');
      await ok(at().api.patch(`/channels/${http.id}`, { enabled: false }));
      expect((await send(good)).status).toBe(401);
    });
  }));
