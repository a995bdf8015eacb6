import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../harness/callback-receiver.ts';
import { until } from '../harness/wait.ts';
import { force } from '../harness/work-items.ts';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  onPostgres,
  time,
  unknownId,
  uuid,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
const secret = secretOf(32);

onPostgres((at) => {
  let receiver: CallbackReceiver;
  let agent: Json;
  beforeAll(async () => {
    receiver = await startCallbackReceiver();
  });
  afterAll(() => receiver?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    receiver.respondWith(204);
    agent = await newAgent(at(), { execution: 'external' });
  });

  const create = (callbacks: object[], more: object = {}) =>
    ok(at().api.post('/work-items', { agent_id: agent.id, callbacks, ...more }));
  const act = (id: string, action: string) => ok(at().api.post(`/work-items/${id}/${action}`));
  const deliveries = async (id: string): Promise<Json[]> =>
    (await ok(at().api.get(`/work-items/${id}/callbacks`))).data;
  const received = (id: string, n: number): Promise<Json[]> =>
    until(() => receiver.of(id).length >= n && receiver.of(id));
  const settled = (id: string, state: string) =>
    until(async () => (await deliveries(id)).every((d) => d.state === state) && deliveries(id));
  const makeDue = (id: string) =>
    at().sql`with due as (update callback_deliveries set next_attempt_at = platform_now()
      where work_item_id = ${id} and state = 'pending') select pg_notify('callbacks', '')`;
  const claim = async (): Promise<Json> =>
    (await ok(at().api.post('/work-items/claim', { agent_ids: [agent.id] }))).records[0];
  const finish = ({ work_item: { id }, lease_token }: Json, body: object) =>
    ok(at().api.post(`/work-items/${id}/finish`, { lease_token, ...body }));
  const ends = ['needs_review', 'indeterminate', 'completed', 'error', 'cancelled'];
  const eventsOf = (names: string[]) => names.map((name) => `work_item.${name}`);
  const all = eventsOf(['pending', 'executing', ...ends]);

  describe('a Work Item', () => {
    test('has callbacks, with a generated secret in the response of the create alone', async () => {
      const url = `${receiver.url}/b`;
      const errors = { url, secret, events: eventsOf(['error', 'error']), headers: { 'x-key': 'v' } };
      const item = await create([{ url: receiver.url }, errors]);
      const [generated, given] = item.callbacks;
      const id = expect.stringMatching(uuid);
      const own = { id, url: receiver.url, events: eventsOf(ends), header_names: [], secret_set: true };
      expect(generated).toEqual({ ...own, secret: expect.stringMatching(/^whsec_/) });
      const events = eventsOf(['error']);
      expect(given).toEqual({ id, url, events, header_names: ['x-key'], secret_set: true });
      const { secret: _, ...later } = generated;
      expect((await ok(at().api.get(`/work-items/${item.id}`))).callbacks).toEqual([later, given]);
      const rows = await at().sql`select c::text as text from callbacks c where work_item_id = ${item.id}`;
      expect(rows).toHaveLength(2);
      for (const { text } of rows) expect(text).not.toMatch(/whsec|x-key/);
    });

    test.each<[path: string, fields: object]>([
      ['url', { url: 'ftp://h/' }],
      ['url', { url: 'http://u:p@h/' }],
      ['events[0]', { events: ['work_item.draft'] }],
      ['secret', { secret: secretOf(23) }],
      // One of the signature, and one of the connection.
      ['headers.Webhook-Id', { headers: { 'Webhook-Id': 'x' } }],
      ['headers.host', { headers: { host: 'x' } }],
    ])('%s of a callback is 422: %j', async (path, fields) => {
      const callbacks = [{ url: 'http://h/', ...fields }];
      const response = await at().api.post('/work-items', { agent_id: agent.id, callbacks });
      expectError(response, 422);
      expect(faults(response)).toEqual([`callbacks[0].${path}`]);
    });

    test('is reported with a signature that the reference library accepts, and without content', async () => {
      const headers = { 'x-key': 'value', authorization: 'Bearer b' };
      const content = { message: 'private words', payload: { private: 'words' }, work_item_name: 'N' };
      const item = await create([{ url: `${receiver.url}/hook?a=1`, secret, headers }], content);
      await act(item.id, 'cancel');
      const [got] = await received(item.id, 1);
      expect(got.path).toBe('/hook?a=1');
      expect(got.headers).toMatchObject({ ...headers, 'content-type': 'application/json' });
      expect(new Webhook(secret).verify(got.text, got.headers as Record<string, string>)).toEqual(got.body);
      expect(got.body).toEqual({
        type: 'work_item.cancelled',
        timestamp: expect.stringMatching(time),
        data: {
          work_item_id: item.id,
          agent_id: agent.id,
          agent_version: null,
          schedule_id: null,
          trigger_id: null,
          occurrence_id: null,
          work_item_name: 'N',
          status: 'CANCELLED',
          previous_status: 'PENDING',
          cost_nano_usd: 0,
          unknown_calls: 0,
          url: `${at().test.origin}/api/v2/work-items/${item.id}`,
        },
      });
      const [delivery] = await settled(item.id, 'delivered');
      expect(delivery).toEqual({
        id: got.headers['webhook-id'],
        event: 'work_item.cancelled',
        url: `${receiver.url}/hook?a=1`,
        state: 'delivered',
        attempts: 1,
        last_status: 204,
        last_error: null,
        next_attempt_at: null,
        delivered_at: expect.stringMatching(time),
      });
    });
  });

  test('every change of a status is recorded once for each callback, no matter who made it', async () => {
    const record = async (end: (id: string, claimed: Json) => Promise<unknown>): Promise<string[]> => {
      const { id } = await create([{ url: receiver.url, events: all }]);
      await end(id, await claim());
      return (await deliveries(id)).map((d) => d.event.replace('work_item.', '')).toReversed();
    };
    const begin = ['pending', 'executing'];
    for (const [body, event] of [
      [{ outcome: 'COMPLETED' }, 'completed'],
      [{ outcome: 'ERROR' }, 'error'],
      [{ outcome: 'NEEDS_REVIEW', review: { reason: 'r' } }, 'needs_review'],
      [{ outcome: 'RETRY', retry_after_seconds: 3_600 }, 'pending'],
    ] as const) {
      expect(await record((_, r) => finish(r, body))).toEqual([...begin, event]);
    }
    const cancelled = async (id: string, r: Json) => {
      await act(id, 'cancel');
      await finish(r, { outcome: 'COMPLETED' });
    };
    expect(await record(cancelled)).toEqual([...begin, 'cancelled']);
    const lost = async (id: string, r: Json) => {
      const lease = { lease_token: r.lease_token, unsafe_tool_in_flight: true };
      await ok(at().api.post(`/work-items/${id}/heartbeat`, lease));
      await at().sql`update work_items set lease_expires_at = platform_now() where id = ${id}`;
      await at().api.post(`/work-items/${id}/heartbeat`, lease);
    };
    expect(await record(lost)).toEqual([...begin, 'indeterminate']);
    const restarted = async (_: string, r: Json) => {
      await finish(r, { outcome: 'COMPLETED' });
      await act(r.work_item.id, 'restart');
      await act(r.work_item.id, 'cancel');
    };
    expect(await record(restarted)).toEqual([...begin, 'completed', 'pending', 'cancelled']);
  });

  test('a draft is reported when it is submitted; a run of the platform like one of an external worker', async () => {
    const platform = await newAgent(at());
    const item = await create([{ url: receiver.url, events: all }], { agent_id: platform.id, draft: true });
    expect(await deliveries(item.id)).toEqual([]);
    await act(item.id, 'submit');
    await until(async () => (await deliveries(item.id)).length === 3);
    const got = await received(item.id, 3);
    const moves = got.map(({ body: { data } }) => `${data.previous_status}→${data.status}`);
    expect(moves.sort()).toEqual(['DRAFT→PENDING', 'EXECUTING→COMPLETED', 'PENDING→EXECUTING']);
  });

  describe('an agent', () => {
    test('has callbacks for all its Work Items, next to those of the Work Item', async () => {
      const own = { url: `${receiver.url}/own`, events: ['work_item.pending'] };
      const updated = await ok(at().api.patch(`/agents/${agent.id}`, { callbacks: [{ ...own, secret }] }));
      expect(updated.callbacks).toMatchObject([{ url: own.url, secret_set: true }]);
      const item = await create([{ url: `${receiver.url}/item`, events: ['work_item.pending'] }]);
      const got = await received(item.id, 2);
      expect(got.map(({ path }) => path).sort()).toEqual(['/item', '/own']);
      expect(got[0]!.body.data.previous_status).toBeNull();
    });

    test('reports a Work Item that its schedule fired, with the schedule', async () => {
      const callbacks = [{ url: receiver.url, events: ['work_item.pending'] }];
      const busy = await newAgent(at(), { execution: 'external', callbacks });
      const yearly = { cron_expression: '0 0 1 1 *', work_item_name: 'fired' };
      const schedule = await newSchedule(at(), busy.id, yearly);
      await at()
        .sql`update schedules set next_run_at = date_trunc('minute', platform_now()) - interval '1 second' where id = ${schedule.id}`;
      at().test.platform.features.schedules.firing.wake();
      const list = `/work-items?agent_id=${busy.id}`;
      const fired = await until(async () => (await ok(at().api.get(list))).records[0]);
      const [got] = await received(fired.id, 1);
      const { work_item_name } = yearly;
      expect(got.body.data).toMatchObject({
        schedule_id: schedule.id,
        work_item_name,
        previous_status: null,
      });
      expect(got.headers['webhook-id']).toMatch(uuid);
    });

    test('that is deleted reports the Work Items that end with it', async () => {
      await ok(at().api.patch(`/agents/${agent.id}`, { callbacks: [{ url: receiver.url }] }));
      const item = await create([]);
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      const [got] = await received(item.id, 1);
      expect(got.body.type).toBe('work_item.cancelled');
    });

    test('refuses an id that is not one of its callbacks, or is there twice', async () => {
      const path = `/agents/${agent.id}`;
      const [own] = (await ok(at().api.patch(path, { callbacks: [{ url: receiver.url, secret }] })))
        .callbacks;
      for (const id of [unknownId, 'x']) {
        const unknown = await at().api.patch(path, { callbacks: [own, { ...own, id }] });
        expectError(unknown, 422, /leave it out for a new one/);
        expect(faults(unknown)).toEqual(['callbacks[1].id']);
      }
      expect(faults(await at().api.patch(path, { callbacks: [own, own] }))).toEqual(['callbacks[1].id']);
      expect((await ok(at().api.get(path))).callbacks).toEqual([own]);
    });

    test('keeps of a callback that an update names by its id what the update leaves out', async () => {
      const path = `/agents/${agent.id}`;
      const given = { url: receiver.url, secret, headers: { 'x-key': 'v' }, events: ['work_item.cancelled'] };
      const [before] = (await ok(at().api.patch(path, { callbacks: [given] }))).callbacks;
      const same = await ok(at().api.patch(path, { callbacks: (await ok(at().api.get(path))).callbacks }));
      expect(same.callbacks).toEqual([before]);
      // With another origin the signing secret is needed again, too.
      const elsewhere = { ...before, url: 'http://elsewhere.example/' };
      const both = await at().api.patch(path, { callbacks: [elsewhere] });
      expect(faults(both)).toEqual(['callbacks[0].headers', 'callbacks[0].secret']);
      const moved = { ...before, url: `${receiver.url}/moved` };
      const refused = await at().api.patch(path, { callbacks: [moved] });
      expectError(refused, 422);
      expect(faults(refused)).toEqual(['callbacks[0].headers']);
      const headers = { 'x-other': 'w' };
      const after = await ok(at().api.patch(path, { callbacks: [{ ...moved, headers }] }));
      expect(after.callbacks).toEqual([{ ...before, url: moved.url, header_names: ['x-other'] }]);
      expect((await ok(at().api.patch(path, { callbacks: after.callbacks }))).callbacks).toEqual(
        after.callbacks,
      );
      const item = await create([]);
      await act(item.id, 'cancel');
      const [got] = await received(item.id, 1);
      expect(new Webhook(secret).verify(got.text, got.headers as Record<string, string>)).toEqual(got.body);
      expect([got.path, got.headers['x-other'], got.headers['x-key']]).toEqual(['/moved', 'w', undefined]);
      expect((await ok(at().api.patch(path, { callbacks: [] }))).callbacks).toEqual([]);
      const quiet = await create([]);
      await act(quiet.id, 'cancel');
      expect(await deliveries(quiet.id)).toEqual([]);
    });
  });

  describe('a receiver', () => {
    const cancelled = async () => {
      const { id } = await create([{ url: receiver.url, secret }]);
      await act(id, 'cancel');
      return id;
    };
    /** What is left after the first attempt. */
    const first = async (): Promise<Json> => {
      const id = await cancelled();
      return until(async () => {
        const [delivery] = await deliveries(id);
        return (delivery.last_status !== null || delivery.last_error !== null) && { ...delivery, item: id };
      });
    };
    const secondsLeft = (delivery: Json) => (Date.parse(delivery.next_attempt_at) - Date.now()) / 1_000;

    test('that fails gets the same id again, after 5 s, and then the next delays', async () => {
      receiver.respondWith(500);
      const delivery = await first();
      expect(delivery).toMatchObject({ state: 'pending', attempts: 1, last_status: 500, delivered_at: null });
      expect(secondsLeft(delivery)).toBeGreaterThan(0);
      expect(secondsLeft(delivery)).toBeLessThan(6.1);
      await makeDue(delivery.item);
      const again = await until(async () => {
        const [now] = await deliveries(delivery.item);
        return now.attempts === 2 && secondsLeft(now) > 60 && now;
      });
      expect(secondsLeft(again)).toBeGreaterThan(230);
      expect(secondsLeft(again)).toBeLessThan(361);
      receiver.respondWith(200);
      await makeDue(delivery.item);
      await settled(delivery.item, 'delivered');
      const got = receiver.of(delivery.item);
      expect(new Set(got.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.id]));
      expect(new Set(got.map(({ text }) => text)).size).toBe(1);
    });

    test('is not tried before its Retry-After', async () => {
      receiver.respondWith({ status: 503, headers: { 'retry-after': '600' } });
      const delivery = await first();
      expect(secondsLeft(delivery)).toBeGreaterThan(590);
      expect(secondsLeft(delivery)).toBeLessThan(601);
    });

    test('that responds with a redirect has failed, and the redirect is not followed', async () => {
      receiver.respondWith(({ path }) =>
        path === '/' ? { status: 307, headers: { location: `${receiver.url}/other` } } : 200,
      );
      const delivery = await first();
      expect(delivery).toMatchObject({ state: 'pending', last_status: 307 });
      expect(receiver.of(delivery.item).map(({ path }) => path)).toEqual(['/']);
    });

    test('that responds with 410 ends it at once', async () => {
      receiver.respondWith(410);
      const delivery = await first();
      expect(delivery).toMatchObject({ state: 'gone', attempts: 1, last_status: 410, next_attempt_at: null });
    });

    test('that fails ten times is given up; a person can retry it, with the same id', async () => {
      receiver.respondWith(500);
      const delivery = await first();
      const retry = (id: string) => at().api.post(`/work-items/${delivery.item}/callbacks/${id}/retry`);
      expectError(await retry(delivery.id), 412, /./, { state: 'pending' });
      await at().sql`update callback_deliveries set failures = 9 where id = ${delivery.id}`;
      await makeDue(delivery.item);
      const [failed] = await settled(delivery.item, 'failed');
      expect(failed).toMatchObject({ attempts: 2, last_status: 500, next_attempt_at: null });
      expect((await ok(at().api.get(`/work-items/${delivery.item}`))).status).toBe('CANCELLED');
      receiver.respondWith(200);
      expect(await ok(retry(delivery.id))).toMatchObject({ id: delivery.id, state: 'pending' });
      await settled(delivery.item, 'delivered');
      expectError(await retry(delivery.id), 412, /./, { state: 'delivered' });
    });

    test('that is not there, or not permitted, is tried again', async () => {
      for (const [url, error] of [
        ['http://127.0.0.1:9/', /no connection/],
        ['http://169.254.169.254/latest', /not permitted/],
      ] as const) {
        const { id } = await create([{ url }]);
        await act(id, 'cancel');
        const delivery = await until(async () => {
          const [now] = await deliveries(id);
          return now.last_error !== null && now;
        });
        expect(delivery).toMatchObject({ state: 'pending', last_status: null });
        expect(delivery.last_error).toMatch(error);
      }
    });

    test('that hangs does not delay another', async () => {
      await using hanging = await startCallbackReceiver();
      hanging.respondWith('hang');
      for (let i = 0; i < 40; i++) {
        const { id } = await create([{ url: hanging.url }]);
        await act(id, 'cancel');
      }
      await until(() => hanging.requests.length >= 8);
      const id = await cancelled();
      await received(id, 1);
      expect(hanging.requests.length).toBe(8);
      await at().sql`delete from callbacks where url = ${hanging.url}`;
    });
  });

  test('of a member reaches no private address: a literal is 422, a name is a failed delivery, open or closed', async () => {
    const member = at().as((await newKey(at(), 'member')).value);
    const { port } = new URL(receiver.url);
    const post = (url: string, by = member) =>
      by.post('/work-items', { agent_id: agent.id, callbacks: [{ url, events: ['work_item.pending'] }] });
    const hosts = '127.0.0.1 2130706433 10.1.2.3 [::1] [::ffff:192.168.0.1] 169.254.169.254';
    for (const host of hosts.split(' ')) {
      const refused = await post(`http://${host}:${port}/`);
      expectError(refused, 422);
      expect(faults(refused)).toEqual(['callbacks[0].url']);
    }
    const ended = async (url: string): Promise<Json> => {
      const { id } = await ok(post(url));
      return until(async () => {
        const [one] = (await ok(at().api.get(`/work-items/${id}/callbacks`))).data;
        return one.state === 'failed' && one;
      });
    };
    // A path of its own: what earlier tests caused may still arrive.
    const arrived = (): number => receiver.requests.filter(({ path }) => path === '/private').length;
    const [open, closed] = [
      await ended(`http://localhost:${port}/private`),
      await ended('http://localhost:9/'),
    ];
    expect(open.last_status).toBeNull();
    expect(open.last_error).toMatch(/EGRESS_MEMBERS_ALLOW/);
    expect(open.last_error).toBe(closed.last_error);
    expect(arrived()).toBe(0);
    await ok(post(`http://127.0.0.1:${port}/private`, at().api));
    await until(() => arrived() > 0);
  });

  test('the deliveries of a Work Item come in pages, newest first', async () => {
    const urls = [receiver.url, `${receiver.url}/2`];
    const { id } = await create(urls.map((url) => ({ url, events: all })));
    await act(id, 'cancel');
    const path = `/work-items/${id}/callbacks`;
    const { data, has_more, next } = await ok(at().api.get(`${path}?limit=3`));
    expect([data.length, has_more]).toEqual([3, true]);
    const rest = await ok(at().api.get(`${path}?limit=3&next=${next}`));
    const events = eventsOf(['cancelled', 'cancelled', 'pending', 'pending']);
    expect([...data, ...rest.data].map((d: Json) => d.event)).toEqual(events);
  });

  test('go with their Work Item at its retention', async () => {
    const { id } = await create([{ url: receiver.url }]);
    await force(at().db, id, 'COMPLETED');
    await at().sql`delete from work_items where id = ${id}`;
    for (const table of ['callbacks', 'callback_deliveries', 'work_item_steps', 'external_leases']) {
      const rows = await at().sql`select 1 from ${sql.table(table)} where work_item_id = ${id}`;
      expect(rows).toEqual([]);
    }
  });

  test('the metrics count attempts by their outcome', async () => {
    const { text } = await at().test.as(undefined, '').get('/metrics');
    const counted = [...text.matchAll(/callback_attempts_total\{outcome="(\w+)"\} [1-9]/g)];
    expect(counted.map(([, outcome]) => outcome).sort()).toEqual(['delivered', 'failed', 'gone', 'retried']);
    expect(text).toMatch(/agent_platform_callbacks_overdue \d/);
  });
});
