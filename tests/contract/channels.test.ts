import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallbackReceiver, startCallbackReceiver } from '../harness/callback-receiver.ts';
import { startSmtp, type TestSmtp } from '../harness/smtp.ts';
import { until } from '../harness/wait.ts';
import { decide, newChannel, newExternal, newReview, newRoute } from './channels-fixture.ts';
import {
  expectError,
  faults,
  newKey,
  ok,
  onPostgres,
  setSettings,
  time,
  unknownId,
  uuid,
} from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const slack = { bot_token: 'xoxb-1-secret', app_token: 'xapp-1-secret' };
const email = { smtp_url: 'smtp://u:hunter2@mail.invalid:25', from: 'Agents <agents@example.com>' };
const teams = { url: 'https://flows.invalid/run?sig=hunter2' };
const pagerduty = { routing_key: 'k'.repeat(32) };
const pay = (args: object = { amount: 5 }) => ({
  kind: 'tool_call',
  tool_name: 'bank__pay',
  arguments: args,
});

describe('channels', () =>
  onPostgres((at) => {
    let receiver: CallbackReceiver;
    let smtp: TestSmtp;
    beforeAll(async () => {
      receiver = await startCallbackReceiver();
      smtp = await startSmtp();
    });
    afterAll(async () => {
      await receiver?.[Symbol.asyncDispose]();
      await smtp?.[Symbol.asyncDispose]();
    });

    const channel = (kind: string, fields: object) => newChannel(at(), kind, fields);
    const create = (kind: string, fields: object, name = `c ${Math.random()}`) =>
      at().api.post('/channels', { kind, name, ...fields });
    const patch = (id: string, body: object) => at().api.patch(`/channels/${id}`, body);
    const mail = (more: object = {}) => ({
      smtp_url: `smtp://127.0.0.1:${smtp.port}`,
      tls: 'none',
      from: 'Agents <agents@example.com>',
      recipients: ['ops@example.com'],
      ...more,
    });
    const messages = async (id: string): Promise<Json[]> =>
      (await ok(at().api.get(`/reviews/${id}`))).messages;
    const settled = (id: string, state: string): Promise<Json[]> =>
      until(async () => {
        const now = await messages(id);
        return now.length > 0 && now.every((one) => one.state === state) && now;
      });
    const makeDue = (id: string) =>
      at().sql`with due as (update channel_messages set next_attempt_at = platform_now(), leased_until = null
        where subject_id = ${id} and state = 'pending') select pg_notify('channel_messages', '')`;
    const posted = (id: string): Json[] =>
      receiver.requests.filter(({ body }) => body.data.id === id).map(({ body }) => body);

    test('have all but their secrets, and a name that is unique whatever the case', async () => {
      const created = await create('slack', { ...slack, conversation: 'C0123' }, 'Finance');
      expect(created.status, created.text).toBe(200);
      const { id, ...rest } = created.body;
      expect(id).toMatch(uuid);
      expect(rest).toEqual({
        name: 'Finance',
        kind: 'slack',
        enabled: true,
        include_arguments: true,
        bot_token_set: true,
        app_token_set: true,
        signing_secret_set: false,
        interactions_url: null,
        conversation: 'C0123',
        buttons: true,
        api_url: 'https://slack.com/api/',
        state: 'unknown',
        last_success_at: null,
        last_error: null,
        created_by: expect.any(String),
        created_at: expect.stringMatching(time),
        updated_at: expect.stringMatching(time),
      });
      expect((await ok(at().api.get(`/channels/${id}`))).name).toBe('Finance');
      expect(faults(await create('teams', teams, 'FINANCE'))).toEqual(['name']);

      const http = await ok(patch(id, { app_token: null, signing_secret: 's3cret', buttons: false }));
      expect(http).toMatchObject({
        app_token_set: false,
        buttons: false,
        interactions_url: `${at().test.origin}/app/api/channels/${id}/slack`,
      });
      const other = await channel('email', email);
      expect(other).toMatchObject({
        smtp_url_set: true,
        smtp_host: 'mail.invalid',
        tls: 'required',
        recipients: [],
      });
      const hook = await channel('webhook', { url: 'http://h.invalid/', headers: { 'x-key': 'hunter2' } });
      expect(hook).toMatchObject({
        secret: expect.stringMatching(/^whsec_/),
        header_names: ['x-key'],
        include_arguments: false,
      });
      expect(await ok(at().api.get(`/channels/${hook.id}`))).not.toHaveProperty('secret');
      expect(await channel('teams', teams)).toMatchObject({ url_set: true, host: 'flows.invalid' });
      expect(await channel('pagerduty', pagerduty)).toMatchObject({
        routing_key_set: true,
        url: 'https://events.pagerduty.com/v2/enqueue',
      });
      const everything =
        JSON.stringify(await at().sql`select settings, recipients from channels`) +
        JSON.stringify(await at().sql`select details::text from audits where action like 'channel.%'`) +
        (await at().api.get('/channels?limit=200')).text;
      expect(everything).toMatch(/sha256:/);
      expect(everything).not.toMatch(/hunter2|s3cret|xoxb|kkkkk/);
    });

    test.each<[string, object, number, string]>([
      ['slack', { bot_token: 'x' }, 400, 'app_token'],
      ['slack', { bot_token: 'x', app_token: null, signing_secret: null }, 400, 'app_token'],
      ['slack', { bot_token: 'x', app_token: '', signing_secret: null }, 422, 'app_token'],
      ['slack', { ...slack, signing_secret: 's' }, 422, 'app_token'],
      ['slack', { app_token: 'x' }, 400, 'bot_token'],
      ['slack', { ...slack, conversation: '#general' }, 422, 'conversation'],
      ['slack', { ...slack, api_url: 'http://slack.invalid/api/' }, 422, 'api_url'],
      ['email', { ...email, smtp_url: 'http://mail.invalid' }, 422, 'smtp_url'],
      ['email', { ...email, smtp_url: 'smtp://u:a%0d%0aRCPT@mail.invalid' }, 422, 'smtp_url'],
      ['email', { ...email, from: 'a@example.com\r\nBcc: b@example.com' }, 422, 'from'],
      ['email', { ...email, tls: 'none' }, 422, 'tls'],
      ['email', { ...email, recipients: ['a@example.com', 'A@example.com'] }, 422, 'recipients'],
      ['email', { smtp_url: email.smtp_url }, 400, 'from'],
      ['webhook', { url: 'ftp://h/' }, 422, 'url'],
      ['teams', { url: 'http://flows.invalid/' }, 422, 'url'],
      ['pagerduty', { routing_key: 'short' }, 422, 'routing_key'],
      ['pager', {}, 422, 'kind'],
    ])('of the kind %s, %j is %i at %s', async (kind, fields, status, path) => {
      const response = await create(kind, fields);
      expectError(response, status);
      expect(faults(response)).toEqual([path]);
    });

    test('keep what an update leaves out, and another address needs every secret again', async () => {
      const { id } = await channel('slack', slack);
      const refused = await patch(id, { api_url: 'https://other.invalid/api' });
      expect(faults(refused)).toEqual(['bot_token', 'app_token']);
      expect((await ok(patch(id, { ...slack, api_url: 'https://other.invalid/api' }))).api_url).toBe(
        'https://other.invalid/api/',
      );
      expectError(await patch(id, { app_token: null }), 422, /app_token/);
      expect(faults(await patch(id, { smtp_url: 'smtp://h' }))).toEqual(['smtp_url']);
      expect(faults(await patch(id, { kind: 'email' }))).toEqual(['kind']);
      const hook = await channel('webhook', { url: 'http://h.invalid/', headers: { a: 'b' } });
      expect(faults(await patch(hook.id, { url: 'http://h.invalid/x' }))).toEqual(['headers', 'secret']);
      const pager = await channel('pagerduty', pagerduty);
      expect(faults(await patch(pager.id, { url: 'https://eu.invalid/' }))).toEqual(['routing_key']);
      expect((await ok(patch(pager.id, { enabled: false, include_arguments: true }))).enabled).toBe(false);
    });

    test('are limited in number, and are not deleted while a route names them', async () => {
      const { id } = await channel('webhook', { url: receiver.url });
      const agent = await newExternal(at());
      const route = await newRoute(at(), agent.id, [{ channel_id: id, to: 'channel' }]);
      const response = await at().api.delete(`/channels/${id}`);
      expectError(response, 412, /Routes use/, { route_ids: [route.id] });
      await ok(at().api.delete(`/routes/${route.id}`), 204);
      await ok(at().api.delete(`/channels/${id}`), 204);
      await setSettings(at(), { MAX_CHANNELS: 0 });
      const refused = await create('teams', teams);
      await setSettings(at(), { MAX_CHANNELS: 50 });
      expectError(refused, 422, /maximum/, { setting: 'MAX_CHANNELS' });
    });

    test('webhooks are signed as callbacks: opened and closed, each with an id that stays', async () => {
      const agent = await newExternal(at());
      const hook = await channel('webhook', { url: receiver.url, headers: { 'x-key': 'v' } });
      await newRoute(at(), agent.id, [{ channel_id: hook.id, to: 'channel' }]);
      let refusals = 2;
      receiver.respondWith(() => (refusals-- > 0 ? 503 : 204));
      const review = await newReview(at(), agent.id, [pay()]);
      for (let n = 1; n <= 2; n++) {
        await until(
          async () =>
            (await messages(review.id))[0].attempts === n && (await messages(review.id))[0].last_error,
        );
        expect((await ok(at().api.get(`/channels/${hook.id}`))).state).toBe('failing');
        await makeDue(review.id);
      }
      const [message] = await settled(review.id, 'delivered');
      expect(message).toEqual({
        channel_id: hook.id,
        channel_name: hook.name,
        to: 'channel',
        state: 'delivered',
        attempts: 3,
        last_error: null,
        next_attempt_at: null,
        delivered_at: expect.stringMatching(time),
      });
      expect(await ok(at().api.get(`/channels/${hook.id}`))).toMatchObject({
        state: 'ok',
        last_error: null,
        last_success_at: expect.stringMatching(time),
      });
      const opened = receiver.requests.filter(({ body }) => body.data.id === review.id);
      expect(new Set(opened.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      const { messages: _, may_decide, ...own } = review;
      expect(opened[0]!.body).toEqual({
        type: 'review.opened',
        timestamp: review.opened_at,
        data: { ...own, may_decide: false, approvals: [{ ...review.approvals[0], arguments: null }] },
      });
      expect(
        new Webhook(hook.secret).verify(opened[2]!.text, opened[2]!.headers as Record<string, string>),
      ).toBeTruthy();

      await ok(decide(at(), review, 'approve'));
      await until(() => posted(review.id).length === 4);
      const closed = posted(review.id)[3];
      expect(closed).toMatchObject({ type: 'review.closed', data: { state: 'decided' } });
      await settled(review.id, 'delivered');
    });

    test('a review that closes before it is delivered is not posted, and a disabled channel waits', async () => {
      const agent = await newExternal(at());
      const hook = await channel('webhook', { url: receiver.url, enabled: false });
      await newRoute(at(), agent.id, [{ channel_id: hook.id, to: 'channel' }]);
      const [early, late] = [
        await newReview(at(), agent.id, [pay()]),
        await newReview(at(), agent.id, [pay()]),
      ];
      await ok(decide(at(), early, 'deny'));
      await ok(patch(hook.id, { enabled: true }));
      await settled(late.id, 'delivered');
      const [message] = await settled(early.id, 'failed');
      expect(message.last_error).toBe('Closed before it was delivered.');
      expect(posted(early.id)).toEqual([]);
    });

    test('410 fails at once, 429 stops the channel, and an edit makes what waits due', async () => {
      const agent = await newExternal(at());
      const hook = await channel('webhook', { url: receiver.url });
      await newRoute(at(), agent.id, [{ channel_id: hook.id, to: 'channel' }]);
      receiver.respondWith(410);
      const gone = await newReview(at(), agent.id, [pay()]);
      expect((await settled(gone.id, 'failed'))[0].last_error).toBe('The receiver responded with 410.');
      receiver.respondWith({ status: 429, headers: { 'retry-after': '3600' } });
      const first = await newReview(at(), agent.id, [pay()]);
      const [waiting] = await until(
        async () => (await messages(first.id))[0].last_error && messages(first.id),
      );
      expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now() + 3_000_000);
      receiver.respondWith(204);
      const second = await newReview(at(), agent.id, [pay()]);
      await makeDue(second.id);
      await ok(patch(hook.id, { name: `${hook.name} again` }));
      await settled(first.id, 'delivered');
      await settled(second.id, 'delivered');
      expect((await messages(second.id))[0].attempts).toBe(1);
    });

    test('e-mails are a thread with the link alone, and hostile text is no header and no markup', async () => {
      const agent = await newExternal(at(), 'Clerk\u202e <b>x</b>\r\nBcc: evil@example.com');
      const box = await channel('email', mail({ recipients: ['ops@example.com', 'boss@example.com'] }));
      const person = await newPerson(at(), 'builder');
      await at()
        .sql`update users set email = 'ada@example.com', email_verified = true where id = ${person.id}`;
      const unverified = await newPerson(at(), 'builder');
      await newRoute(at(), agent.id, [
        { channel_id: box.id, to: 'channel' },
        { channel_id: box.id, to: { user_ids: [person.id, unverified.id] } },
      ]);
      smtp.mails.length = 0;
      const hostile = { note: '<script>alert(1)</script>\r\n\u202eX', big: 'y'.repeat(50_000) };
      const review = await newReview(at(), agent.id, [pay(hostile)], { reason: 'Why?\r\nSubject: no' });
      const all: Json[] = await until(async () => {
        const now = await messages(review.id);
        return now.filter(({ state }) => state === 'delivered').length === 3 && now;
      });
      expect(all.map(({ to }) => to)).toEqual([
        'ops@example.com',
        'boss@example.com',
        { user_id: person.id, name: 'Ada' },
        { user_id: unverified.id, name: 'Ada' },
      ]);
      expect(all[3]).toMatchObject({
        state: 'failed',
        last_error: 'Ada has no verified e-mail.',
        attempts: 1,
      });
      const mine = () => smtp.mails.filter(({ to }) => to[0] === 'ada@example.com');
      const [first] = mine();
      expect(first!.from).toBe('agents@example.com');
      const { mail: got, raw } = first!;
      expect(got.headers.get('auto-submitted')).toBe('auto-generated');
      expect(got.headers.has('bcc')).toBe(false);
      expect(got.text).toContain(`Decide: ${at().test.origin}/approve/${review.id}`);
      expect(got.text).toContain('\\u202eX');
      expect(got.html).toContain('&lt;script&gt;');
      expect(got.html).not.toMatch(/<script|<img|<b>x/);
      expect(`${got.subject}${got.text}${got.html}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^(bcc|cc):/im);

      await ok(decide(at(), review, 'approve', { arguments: { amount: 7 } }));
      const [, second] = await until(() => mine().length === 2 && mine());
      expect(second!.mail.inReplyTo).toBe(got.messageId);
      expect(second!.mail.text).toMatch(/Approved by .*, \d\d:\d\d UTC/);
      expect(second!.mail.text).toContain('amount: nothing → 7');
      expect(second!.mail.messageId).not.toBe(got.messageId);

      smtp.refuseWith(550);
      const refused = await newReview(at(), agent.id, [pay()]);
      await until(async () => (await messages(refused.id)).every(({ state }) => state === 'failed'));
      expect((await messages(refused.id))[0].last_error).toBe('The mail server refused the mail (550).');
      smtp.refuseWith(451);
      const later = await newReview(at(), agent.id, [pay()]);
      await until(async () => (await messages(later.id))[0].last_error);
      expect((await messages(later.id))[0].state).toBe('pending');
      smtp.refuseWith(null);
    });

    test('are tested in steps', async () => {
      const tryIt = async (id: string): Promise<Json> => {
        const result = await ok(at().api.post(`/channels/${id}/test`));
        return { ...result, steps: result.steps.map(({ step, ok }: Json) => `${step} ${ok}`) };
      };
      const hook = await channel('webhook', { url: receiver.url });
      receiver.respondWith(204);
      expect(await tryIt(hook.id)).toEqual({
        ok: true,
        steps: ['resolve true', 'connect true', 'message true'],
      });
      expect(receiver.requests.at(-1)!.body).toMatchObject({
        type: 'channel.test',
        data: { channel_id: hook.id },
      });
      receiver.respondWith(500);
      expect((await tryIt(hook.id)).steps).toEqual(['resolve true', 'connect true', 'message false']);
      expect((await ok(at().api.get(`/channels/${hook.id}`))).last_error).toBe(
        'The receiver responded with 500.',
      );
      receiver.respondWith(204);
      const box = await channel('email', mail());
      smtp.mails.length = 0;
      expect(await tryIt(box.id)).toEqual({
        ok: true,
        steps: ['resolve true', 'connect true', 'message true'],
      });
      expect(smtp.mails.map(({ to }) => to)).toEqual([['ops@example.com']]);
      await using locked = await startSmtp({ user: 'u' });
      const wrong = await channel('email', mail({ smtp_url: `smtp://u:wrong@127.0.0.1:${locked.port}` }));
      expect((await tryIt(wrong.id)).steps).toEqual(['resolve true', 'connect true', 'authenticate false']);
      await using untrusted = await startSmtp({ tls: true });
      const tls = await channel(
        'email',
        mail({ smtp_url: `smtp://127.0.0.1:${untrusted.port}`, tls: 'required' }),
      );
      expect((await tryIt(tls.id)).steps).toEqual(['resolve true', 'connect true', 'tls false']);
      const nowhere = await channel('teams', { url: 'https://nowhere.invalid/secret' });
      const failed = await ok(at().api.post(`/channels/${nowhere.id}/test`));
      expect(failed).toMatchObject({ ok: false, steps: [{ step: 'resolve', ok: false }] });
      expect(JSON.stringify(failed)).not.toContain('secret');
    });

    test('are read by builders, and written by administrators', async () => {
      const builder = at().as((await newKey(at(), 'builder')).value);
      expect((await builder.get('/channels')).status).toBe(200);
      expectError(await builder.post('/channels', { name: 'x', kind: 'teams', ...teams }), 403);
      const member = at().as((await newKey(at(), 'member')).value);
      expectError(await member.get('/channels'), 403);
      expectError(await at().api.get(`/channels/${unknownId}`), 404);
    });
  }));
