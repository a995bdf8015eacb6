import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import {
  describeOnPostgres,
  expectError,
  faults,
  newAgent,
  ok,
  onEachDatabase,
  setSettings,
  time,
  unknownId,
  uuid,
} from './fixture.ts';
import { eventsOf, itemsOf, newHook, newTrigger, post, send, signed } from './triggers-fixture.ts';

describeOnPostgres('triggers', (at) => {
  test('create responds with the trigger, its defaults and the secret, which no other response has', async () => {
    const agent = await newAgent(at());
    const response = await at().api.post(`/agents/${agent.id}/triggers`, {
      name: 'pushes',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
    });
    expect(response.status, response.text).toBe(200);
    expect(response.headers.get('etag')).toBe('"1"');
    const { secret, ...trigger } = response.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(trigger).toEqual({
      id: expect.stringMatching(uuid),
      agent_id: agent.id,
      name: 'pushes',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      enabled: true,
      filter: null,
      mapping: { message: '', work_item_name: null, payload: null },
      dedup: null,
      rate_limit: null,
      url: `${at().test.origin}/hooks/${trigger.id}`,
      secret_set: true,
      previous_secret_expires_at: null,
      blocked_reason: null,
      reading: null,
      last_event_at: null,
      next_due_at: null,
      created_at: expect.stringMatching(time),
      updated_at: trigger.created_at,
    });
    const path = `/agents/${agent.id}/triggers`;
    expect(await ok(at().api.get(`${path}/${trigger.id}`))).toEqual(trigger);
    expect(await ok(at().api.get(path))).toEqual({ data: [trigger], has_more: false, next: '' });
    expect((await at().as(adminKey, '/api/v1').get(path)).status).toBe(404);
  });

  test('bodies are refused at the field: what is missing with 400, what is wrong with 422', async () => {
    const agent = await newAgent(at());
    const path = `/agents/${agent.id}/triggers`;
    const hook = { name: 'x', kind: 'webhook', settings: { scheme: 'github' } };
    await newTrigger(at(), agent.id, { ...hook, name: 'Taken' });
    const cases: [object, number, string[]][] = [
      [{ kind: 'webhook', settings: { scheme: 'github' } }, 400, ['name']],
      [{ name: 'x', settings: {} }, 400, ['kind']],
      [{ name: 'x', kind: 'mqtt', settings: {} }, 422, ['kind']],
      [{ name: 'x', kind: 'webhook' }, 400, ['settings']],
      [{ name: 'x', kind: 'webhook', settings: {} }, 400, ['settings.scheme']],
      [{ name: 'x', kind: 'webhook', settings: { scheme: 'stripe' } }, 400, ['settings.secret']],
      [{ name: 'x', kind: 'webhook', settings: { scheme: 'hmac' } }, 400, ['settings.hmac']],
      [{ ...hook, settings: { scheme: 'github', secret: 'short' } }, 422, ['settings.secret']],
      [{ ...hook, settings: { scheme: 'none' } }, 422, ['settings.scheme']],
      [{ ...hook, name: 'TAKEN' }, 422, ['name']],
      [{ ...hook, filter: 'event.body.' }, 422, ['filter']],
      [{ ...hook, filter: 'nothing > 1' }, 422, ['filter']],
      [{ ...hook, mapping: { message: '{{ event.id' } }, 422, ['mapping.message']],
      [{ ...hook, dedup: { key: 'event.headers["x"]' } }, 422, ['dedup.key']],
      [{ ...hook, rate_limit: { per_minute: 0, over: 'skip' } }, 422, ['rate_limit.per_minute']],
      [{ name: 'x', kind: 'work_item', settings: { statuses: [] } }, 422, ['settings.statuses']],
      [{ name: 'x', kind: 'work_item', settings: { statuses: ['DRAFT'] } }, 422, ['settings.statuses[0]']],
      [{ name: 'x', kind: 'absence', settings: { window_seconds: 60 } }, 400, ['settings.trigger_id']],
      [
        {
          name: 'x',
          kind: 'absence',
          settings: { window_seconds: 60, trigger_id: unknownId, agent_id: agent.id },
        },
        422,
        ['settings.trigger_id'],
      ],
      [
        { name: 'x', kind: 'nats', settings: { connection_id: unknownId, stream: 's' } },
        422,
        ['settings.connection_id'],
      ],
    ];
    for (const [body, status, paths] of cases) {
      const response = await at().api.post(path, body);
      expect([response.status, faults(response)], JSON.stringify(body)).toEqual([status, paths]);
    }
    const columns = (await at().api.post(path, { ...hook, filter: 'nothing > 1' })).body.error.details;
    expect(columns).toEqual([{ path: 'filter', message: expect.any(String), column: 1 }]);
    const watching = { name: 'x', kind: 'work_item', settings: { agent_id: unknownId, statuses: ['ERROR'] } };
    expectError(await at().api.post(path, watching), 404, /agent/);
    const absent = { name: 'x', kind: 'absence', settings: { trigger_id: unknownId, window_seconds: 60 } };
    expectError(await at().api.post(path, absent), 404, /trigger/);
    const talker = await newAgent(at(), { mode: 'conversational' });
    expectError(await at().api.post(`/agents/${talker.id}/triggers`, hook), 400, /worker agents/);
    await setSettings(at(), { MAX_TRIGGERS_PER_AGENT: 1 });
    expectError(await at().api.post(path, hook), 400, /1 triggers, the maximum/, {
      setting: 'MAX_TRIGGERS_PER_AGENT',
    });
    await setSettings(at(), { MAX_TRIGGERS_PER_AGENT: 20 });
  });

  test('a broker needs an event connection of its kind, which is kept while a trigger reads it', async () => {
    const agent = await newAgent(at());
    const path = `/agents/${agent.id}/triggers`;
    const settings = { brokers: ['127.0.0.1:1'], tls: { mode: 'disable' } };
    const connection = await ok(at().api.post('/event-connections', { name: 'k', kind: 'kafka', settings }));
    const body = { name: 'x', kind: 'kafka', settings: { connection_id: connection.id, topic: 't' } };
    const made = await ok(at().api.post(path, body));
    expect(made).toMatchObject({
      settings: { connection_id: connection.id, topic: 't', group_id: null, start: 'latest' },
      url: null,
      secret_set: false,
    });
    const nats = { name: 'y', kind: 'nats', settings: { connection_id: connection.id, stream: 's' } };
    const wrong = await at().api.post(path, nats);
    expect([wrong.status, faults(wrong)]).toEqual([422, ['settings.connection_id']]);
    const onePath = `/event-connections/${connection.id}`;
    expectError(await at().api.delete(onePath), 412, /Triggers use/, { trigger_ids: [made.id] });
    const moved = { ...body, settings: { ...body.settings, topic: 'u' } };
    const other = await at().api.put(`${path}/${made.id}`, moved);
    expect([other.status, faults(other)]).toEqual([422, ['settings.topic']]);
    await ok(at().api.delete(`${path}/${made.id}`), 204);
    await ok(at().api.delete(onePath), 204);
  });

  test('PUT replaces the definition, and keeps the secret and whether it is enabled; some fields never change', async () => {
    const trigger = await newHook(at(), {
      filter: 'event.body.a == 1.0',
      settings: { scheme: 'hmac', hmac: { header: 'X-Sig' } },
    });
    const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
    await ok(at().api.post(`${path}/pause`, { reason: 'because' }));
    const settings = { scheme: 'hmac', hmac: { header: 'X-Other', encoding: 'base64' } };
    const body = { name: 'other', kind: 'webhook', settings };
    const replaced = await ok(at().api.put(path, body));
    expect(replaced).toMatchObject({ name: 'other', enabled: false, filter: null, secret_set: true });
    expect(replaced.settings.hmac).toMatchObject({ header: 'X-Other', encoding: 'base64' });
    for (const [change, at_] of [
      [{ kind: 'absence', settings: { agent_id: trigger.agent_id, window_seconds: 60 } }, 'kind'],
      [{ settings: { scheme: 'github' } }, 'settings.scheme'],
      [{ settings: { ...settings, secret: 'another secret of mine' } }, 'settings.secret'],
    ] as const) {
      const response = await at().api.put(path, { ...body, ...change });
      expect([response.status, faults(response)]).toEqual([422, [at_]]);
    }
    await ok(at().api.put(path, { ...body, settings: { ...settings, secret: trigger.secret } }));
    const history = (await ok(at().app.get(`${path}/history`))).data;
    expect(history.map((one: { action: string; text: string }) => one.text)).toEqual([
      expect.stringMatching(/saved it without a change\.$/),
      expect.stringMatching(/changed `name`, `filter`, `settings`\.$/),
      expect.stringMatching(/paused it: because\.$/),
      expect.stringMatching(/created it\.$/),
    ]);
    expect(JSON.stringify(history)).not.toContain(trigger.secret);
  });

  test('a rotated secret is valid in the overlap; rotating again ends the older one, and an overlap of 0 the present one', async () => {
    const trigger = await newHook(at());
    const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
    const rotate = (body: object = {}) => ok(at().api.post(`${path}/rotate-secret`, body));
    const statuses = async (...secrets: string[]) =>
      Promise.all(secrets.map(async (secret) => (await post(trigger.url, '1', signed(secret, '1'))).status));
    const second = (await rotate()).secret;
    expect(await statuses(trigger.secret, second)).toEqual([202, 202]);
    const third = await rotate();
    expect(third.previous_secret_expires_at).toMatch(time);
    expect(await statuses(trigger.secret, second, third.secret)).toEqual([401, 202, 202]);
    const given = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const fourth = await rotate({ secret: given, overlap_seconds: 0 });
    expect([fourth.secret, fourth.previous_secret_expires_at]).toEqual([undefined, null]);
    expect(await statuses(second, third.secret, given)).toEqual([401, 401, 202]);
    const agent = await newAgent(at());
    const absence = await newTrigger(at(), agent.id, {
      kind: 'absence',
      settings: { trigger_id: trigger.id, window_seconds: 60 },
    });
    expectError(await at().api.post(`/agents/${agent.id}/triggers/${absence.id}/rotate-secret`), 412);
    expectError(await at().api.delete(path), 412, /watch this trigger/, { trigger_ids: [absence.id] });
    await ok(at().api.delete(`/agents/${agent.id}/triggers/${absence.id}`), 204);
    await ok(at().api.delete(path), 204);
  });

  test('a webhook is refused without a valid signature, for a body that is too large, and at another address', async () => {
    const trigger = await newHook(at());
    const body = '{"n":1}';
    const headers = signed(trigger.secret, body);
    expectError(await post(trigger.url, body), 401, /webhook-id is missing/);
    expectError(await post(trigger.url, '{"n":2}', headers), 401, /does not match/);
    const stale = signed(trigger.secret, body, 'x', Math.floor(Date.now() / 1_000) - 400);
    expectError(await post(trigger.url, body, stale), 401, /more than 300 s/);
    expect(await eventsOf(at(), trigger)).toEqual([]);
    const large = `"${'x'.repeat(1024 * 1024)}"`;
    expectError(await post(trigger.url, large, signed(trigger.secret, large)), 400, /at most 1024 KB/, {
      setting: 'MAX_EVENT_SIZE_IN_KB',
    });
    const batch = { ...headers, 'content-type': 'application/cloudevents-batch+json' };
    expectError(await post(trigger.url, body, batch), 400, /Batches of CloudEvents/);
    const absence = await newTrigger(at(), trigger.agent_id, {
      kind: 'absence',
      settings: { trigger_id: trigger.id, window_seconds: 60 },
    });
    for (const id of [unknownId, 'x', absence.id]) {
      expectError(
        await post(`${at().test.origin}/hooks/${id}`, body, headers),
        404,
        /webhook does not exist/,
      );
    }
    expect((await fetch(trigger.url)).status).toBe(404);
    const refused = async () =>
      (await ok(at().app.get('/triggers?kind=webhook'))).data.find(
        (one: { id: string }) => one.id === trigger.id,
      ).counts_24h.refused;
    await expect.poll(refused, { timeout: 5_000 }).toBe(5);
  });
});

describe('events', () =>
  onEachDatabase((at) => {
    test('an event becomes one Work Item however often it is delivered, and the ledger counts deliveries', async () => {
      const trigger = await newHook(at(), {
        filter: 'event.body.action == "opened"',
        mapping: {
          message: 'Look at {{ event.body.title }}',
          work_item_name: 'PR {{ event.body.number }}',
          payload: '{"number": event.body.number}',
        },
      });
      const value = { action: 'opened', title: 'a title', number: 7 };
      const id = await send(trigger, value, { id: 'evt 1' });
      expect(await send(trigger, value, { id: 'evt 1', headers: { 'x-more': '1' } })).toBe(id);
      expect(await send(trigger, { ...value, number: 8 }, { id: 'evt 1' })).toBe(id);
      const [item, ...others] = await itemsOf(at(), trigger);
      expect(others).toEqual([]);
      expect(item).toMatchObject({
        trigger_id: trigger.id,
        occurrence_id: id,
        schedule_id: null,
        status: 'PENDING',
        created_by: 'trigger',
        work_item_name: 'PR 7',
        message: 'Look at a title',
        payload: { number: 7 },
      });
      const [entry] = await eventsOf(at(), trigger);
      expect(entry).toEqual({
        id,
        source: 'webhook',
        event_id: 'evt 1',
        type: null,
        at: expect.stringMatching(time),
        outcome: 'fired',
        reason: null,
        work_item_id: item.id,
        work_item: { id: item.id, status: 'PENDING', attempts: 0, duration_ms: null, error: null },
        starts_at: null,
        deliveries: 3,
        differing: 1,
        last_delivery_at: expect.stringMatching(time),
        original_id: null,
        body_kept: true,
        revision: 1,
        by: null,
      });
      const [event] = (await ok(at().api.get(`/work-items/${item.id}/events`))).data;
      expect(event).toMatchObject({ action: 'create', principal: { kind: 'system', id: 'trigger' } });
      const found = (await ok(at().app.get('/work-items?source=trigger'))).data;
      expect(found).toMatchObject([
        { id: item.id, source: 'trigger', trigger: { id: trigger.id, name: trigger.name, exists: true } },
      ]);
      await ok(at().api.post(`/work-items/${item.id}/cancel`));
    });

    test('each event has its outcome with the reason: paused, filtered, invalid, duplicate, limited, queued', async () => {
      const trigger = await newHook(at(), {
        filter: 'event.body.go',
        dedup: { key: 'event.body.key', window_seconds: 60 },
        rate_limit: { per_minute: 1, over: 'skip' },
      });
      const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
      const seen = async (id: string) => {
        const [entry] = (await eventsOf(at(), trigger)).filter((one) => one.id === id);
        return [entry.outcome, entry.reason];
      };
      expect(await seen(await send(trigger, { go: false }))).toEqual(['filtered', 'The filter was false.']);
      expect(await seen(await send(trigger, {}))).toEqual([
        'filtered',
        expect.stringContaining('no field “go”'),
      ]);
      expect(await seen(await send(trigger, { go: 1 }))).toEqual(['invalid', expect.any(String)]);
      expect(await seen(await send(trigger, { go: true }))).toEqual([
        'invalid',
        expect.stringContaining('no field “key”'),
      ]);
      const first = await send(trigger, { go: true, key: 'a' });
      expect(await seen(first)).toEqual(['fired', null]);
      const again = await send(trigger, { go: true, key: 'a' });
      expect(await seen(again)).toEqual(['duplicate', expect.any(String)]);
      const [duplicate] = (await eventsOf(at(), trigger, '?outcome=duplicate')) as { original_id: string }[];
      expect(duplicate!.original_id).toBe(first);
      expect(await seen(await send(trigger, { go: true, key: 'b' }))).toEqual([
        'limited',
        'More than 1 events a minute came.',
      ]);
      // A limited event takes no key.
      await ok(
        at().api.put(path, {
          name: trigger.name,
          kind: 'webhook',
          settings: trigger.settings,
          dedup: { key: 'event.body.key' },
          rate_limit: { per_minute: 1, over: 'queue' },
        }),
      );
      const queued = await send(trigger, { key: 'b' });
      const [entry] = (await eventsOf(at(), trigger)) as { id: string; starts_at: string; at: string }[];
      expect(entry!.id).toBe(queued);
      const wait = Date.parse(entry!.starts_at) - Date.parse(entry!.at);
      expect(wait).toBeGreaterThan(30_000);
      expect(wait).toBeLessThanOrEqual(60_000);
      expect((await itemsOf(at(), trigger))[0]).toMatchObject({
        start_at: entry!.starts_at,
        status: 'PENDING',
      });
      expect(
        await seen(await send(trigger, { key: 'c' }, { headers: { 'agent-platform-depth': '5' } })),
      ).toEqual(['limited', expect.stringContaining('sixth of a chain')]);
      const unreadable = '{"n":';
      const id = (await post(trigger.url, unreadable, signed(trigger.secret, unreadable))).body.occurrence_id;
      expect(await seen(id)).toEqual(['invalid', 'The body is not JSON.']);
      await ok(at().api.post(`${path}/pause`));
      const paused = await send(trigger, { key: 'd' });
      expect(await seen(paused)).toEqual(['paused', 'The trigger was paused.']);

      // A redelivery judges nothing but the mapping.
      const { results } = await ok(
        at().app.post(`${path}/events/redeliver`, { ids: [paused, again, unknownId, id] }),
      );
      expect(results).toMatchObject([
        { id: paused, work_item_id: expect.stringMatching(uuid) },
        { id: again, work_item_id: expect.stringMatching(uuid) },
        { id: unknownId, error: { code: 'not_found' } },
        { id, error: { code: 'unprocessable_entity' } },
      ]);
      const [manual] = (await eventsOf(at(), trigger, '?outcome=manual')).filter(
        (one: { original_id: string }) => one.original_id === paused,
      );
      expect(manual).toMatchObject({ id: results[0].occurrence_id, by: expect.any(String) });
      const detail = await ok(at().app.get(`${path}/events/${paused}`));
      expect(detail).toMatchObject({ body: '{"key":"d"}', headers: { 'content-type': 'application/json' } });
      expect(JSON.stringify(detail.headers)).not.toContain('v1,');

      const explained = await ok(at().app.get(`${path}/explain?event_id=${first}`));
      expect(explained).toMatchObject({ verdict: 'fired', definition: { revision: 1 } });
      expect(explained.text).toMatch(/^Received \d\d:\d\d:\d\d\. It started a Work Item\.$/);
      const missing = await ok(at().app.get(`${path}/explain?event_id=nothing`));
      expect(missing).toMatchObject({ verdict: 'not_received', occurrence: null });
      expect(missing.text).toMatch(/^No event “nothing” was received\. The trigger is paused\.$/);
      const moment = await ok(at().app.get(`${path}/explain?at=${new Date().toISOString()}`));
      expect(moment.verdict).toBe('moment');
      expectError(await at().app.get(`${path}/explain`), 400, /one of the two/);
    });

    test('one identity sent many times at once makes exactly one Work Item', async () => {
      const trigger = await newHook(at());
      const ids = Array.from({ length: 20 }, () => randomUUID());
      const sent = await Promise.all(
        ids.flatMap((id) => [1, 2, 3, 4].map(() => send(trigger, { id }, { id }))),
      );
      expect(new Set(sent).size).toBe(20);
      const events = await eventsOf(at(), trigger, '?limit=200');
      expect(events.map(({ deliveries }) => deliveries)).toEqual(Array(20).fill(4));
      expect(await itemsOf(at(), trigger)).toHaveLength(20);
    });

    test('an event that the database refuses is stored as invalid, and delays no other', async () => {
      const trigger = await newHook(at(), { mapping: { message: '{{ event.body.m }}' } });
      await at().sql`alter table work_items add constraint refused check (message <> 'bad') not valid`;
      const sent = Array.from({ length: 9 }, (_, n) => send(trigger, { m: n === 4 ? 'bad' : 'good' }));
      const ids = await Promise.all(sent);
      await at().sql`alter table work_items drop constraint refused`;
      const events = await eventsOf(at(), trigger);
      expect(events.filter(({ outcome }) => outcome === 'fired')).toHaveLength(8);
      expect(events.find(({ id }) => id === ids[4])).toMatchObject({
        outcome: 'invalid',
        reason: 'The event could not be stored (error 23514).',
        body_kept: false,
      });
    });
  }));

describeOnPostgres('what senders send', (at) => {
  test('GitHub: the body is the event, a ping is filtered, and the type is in a header', async () => {
    const trigger = await newHook(at(), { settings: { scheme: 'github' } });
    const deliver = (body: string, more: object = {}) =>
      post(trigger.url, body, {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${createHmac('sha256', trigger.secret).update(body).digest('hex')}`,
        'x-github-event': 'push',
        'x-github-delivery': randomUUID(),
        ...more,
      });
    const first = await ok(deliver('{"a":1}'), 202);
    expect(await ok(deliver('{"a":1}', { 'x-github-event': 'other' }), 202)).toEqual(first);
    await ok(deliver('{"zen":"x","hook_id":1}'), 202);
    const events = await eventsOf(at(), trigger);
    expect(events).toMatchObject([
      { outcome: 'filtered', reason: 'GitHub sent it when the webhook was made.' },
      { outcome: 'fired', type: 'push', deliveries: 2 },
    ]);
  });

  test('Slack: its challenge is returned and not recorded, and a form gets an empty response', async () => {
    const secret = 'a signing secret of Slack';
    const trigger = await newHook(at(), { settings: { scheme: 'slack', secret } });
    expect(trigger.secret).toBeUndefined();
    const deliver = (body: string, type = 'application/json') => {
      const seconds = Math.floor(Date.now() / 1_000);
      const signature = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex');
      return post(trigger.url, body, {
        'content-type': type,
        'x-slack-request-timestamp': String(seconds),
        'x-slack-signature': `v0=${signature}`,
      });
    };
    expect(await ok(deliver('{"type":"url_verification","challenge":"c"}'))).toEqual({ challenge: 'c' });
    expect(await eventsOf(at(), trigger)).toEqual([]);
    const form = await deliver('command=%2Frun&text=now', 'application/x-www-form-urlencoded');
    expect([form.status, form.text]).toEqual([200, '']);
    expect(await eventsOf(at(), trigger)).toMatchObject([{ outcome: 'fired', type: '/run' }]);
  });

  test('an unsigned webhook needs the setting, and is blocked when it is switched off', async () => {
    await setSettings(at(), { ALLOW_UNSIGNED_WEBHOOKS: true });
    const trigger = await newHook(at(), { settings: { scheme: 'none' } });
    expect([trigger.secret, trigger.secret_set]).toEqual([undefined, false]);
    await ok(post(trigger.url, '{}'), 202);
    await setSettings(at(), { ALLOW_UNSIGNED_WEBHOOKS: false });
    expectError(await post(trigger.url, '{}'), 401, /ALLOW_UNSIGNED_WEBHOOKS/);
    const [listed] = (await ok(at().app.get('/triggers?state=blocked'))).data;
    expect(listed).toMatchObject({
      id: trigger.id,
      blocked_reason: expect.stringContaining('ALLOW_UNSIGNED_WEBHOOKS'),
      last: { outcome: 'fired' },
      counts_24h: { fired: 1 },
    });
  });

  test('try gives a sample the type, source and subject that its kind gives an event', async () => {
    const agent = await newAgent(at());
    const payloadOf = async (kind: string, settings: object, sample: object) => {
      const trigger = { name: 'x', kind, settings };
      const { results } = await ok(
        at().app.post(`/agents/${agent.id}/triggers/try`, { trigger, sample: { body: sample } }),
      );
      return results[0].payload;
    };
    const connection_id = unknownId;
    expect(
      await payloadOf(
        'nats',
        { connection_id, stream: 'orders', subjects: ['orders.*', 'orders.new'] },
        { n: 1 },
      ),
    ).toMatchObject({ type: 'orders.new', source: 'orders', data: { n: 1 } });
    expect(await payloadOf('kafka', { connection_id, topic: 'orders' }, { type: 'order' })).toMatchObject({
      type: 'order',
      source: 'orders',
    });
    expect(
      await payloadOf(
        'work_item',
        { agent_id: null, statuses: ['COMPLETED'] },
        { id: 'one', status: 'COMPLETED' },
      ),
    ).toMatchObject({ type: 'work_item.completed', source: 'work_item', subject: 'one' });
    expect(
      await payloadOf('absence', { agent_id: agent.id, window_seconds: 60 }, { watched: {} }),
    ).toMatchObject({ type: 'absence', source: 'absence' });
  });

  test('try says what a definition would make of kept events and of a sample, and writes nothing', async () => {
    const trigger = await newHook(at());
    await send(trigger, { n: 1 }, { id: 'one' });
    await send(trigger, { n: 2 }, { id: 'two' });
    const path = `/agents/${trigger.agent_id}/triggers/try`;
    const { results } = await ok(at().app.post(path, { trigger_id: trigger.id }));
    expect(results).toMatchObject([
      {
        event_id: 'two',
        outcome: 'fired',
        payload: { id: 'two', source: 'standard_webhooks', data: { n: 2 } },
      },
      { event_id: 'one', outcome: 'fired' },
    ]);
    const definition = {
      name: 'x',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      filter: 'event.body.n > 1.0',
      dedup: { key: 'event.body.n' },
    };
    const tried = await ok(
      at().app.post(path, { trigger: definition, trigger_id: trigger.id, event_ids: ['one', 'two'] }),
    );
    expect(tried.results).toMatchObject([
      { event_id: 'two', outcome: 'fired', key: 2 },
      { event_id: 'one', outcome: 'filtered', reason: 'The filter was false.', key: null },
    ]);
    const sample = { headers: { 'Content-Type': 'application/json' }, body: { n: 3 } };
    const sampled = await ok(at().app.post(path, { trigger: definition, sample }));
    expect(sampled.results).toMatchObject([{ outcome: 'fired', key: 3 }]);
    const wrong = await at().app.post(path, { trigger: { ...definition, filter: 'x(' }, sample });
    expect([wrong.status, faults(wrong)]).toEqual([422, ['trigger.filter']]);
    expect(await eventsOf(at(), trigger)).toHaveLength(2);
  });
});
