import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import type { ClientResponse } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { requiredRoles } from '../harness/services.ts';
import { interceptStatements } from '../harness/statements.ts';
import { until } from '../harness/wait.ts';
import {
  describeOnPostgres,
  expectError,
  type Fixture,
  newExpiringKey,
  newKey,
  ok,
  query,
  setSettings,
  statusAfter,
  time,
  unknownId,
  uuid,
  withPlatform,
} from './fixture.ts';
import { browser, newPerson, newPersonSession, signIn } from './sessions-fixture.ts';

const defaults = {
  SESSION_IDLE_SECONDS: 28_800,
  SESSION_MAX_SECONDS: 86_400,
  SESSION_REVALIDATION_SECONDS: 900,
};

const ended = (page: ReturnType<typeof browser>) =>
  until(async () => (await page.get('/me')).status === 401, 1_500);

/** Moves the times of a session into the past. */
const age = (fixture: Fixture, id: string, column: 'created_at' | 'last_seen_at', seconds: number) =>
  query(
    fixture,
    sql`update sessions set ${sql.ref(column)} = ${sql.ref(column)} - make_interval(secs => ${seconds}) where id = ${id}`,
  );

const entriesOf = async (fixture: Fixture, action: string, target: string) =>
  (await ok(fixture.api.get(`/audits?action=${action}&target_id=${target}`))).data;

describeOnPostgres('signing in with a key', (at) => {
  test('acts as the key: the same principal, role and key', async () => {
    const key = await newKey(at(), 'builder');
    const { page, me, headers, cookie } = await signIn(at(), key.value);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(me.principal).toEqual({ kind: 'service_account', id: key.id, name: 'a builder', role: 'builder' });
    expect(me).toMatchObject({ user: null, key_id: key.id });
    expect(me.session).toEqual({
      id: expect.stringMatching(uuid),
      user_id: null,
      key_id: key.id,
      method: 'api_key',
      created_at: expect.stringMatching(time),
      last_seen_at: me.session.created_at,
      expires_at: new Date(Date.parse(me.session.created_at) + 28_800_000).toISOString(),
      ip: '127.0.0.1',
      user_agent: 'node',
      current: true,
    });
    expect(await ok(page.get('/me'))).toEqual(me);
    const byKey = await ok(at().as(key.value, '/app/api').get('/me'));
    expect(byKey).toEqual({ ...me, session: null });
    const agents = browser(at(), cookie, '/api/v2');
    const agent = await ok(agents.post('/agents', { name: 'by cookie', mode: 'worker' }));
    expectError(await agents.get('/audits'), 403);
    const [entry] = await entriesOf(at(), 'agent.create', agent.id);
    expect(entry.context).toMatchObject({ via: 'session', key_id: key.id, session_id: me.session.id });
  });

  test('with the bootstrap key is a session of the bootstrap administrator', async () => {
    const { me } = await signIn(at(), adminKey);
    expect(me).toMatchObject({
      principal: { kind: 'service_account', id: 'bootstrap', role: 'admin' },
      key_id: 'bootstrap',
      session: { key_id: 'bootstrap', user_id: null },
    });
  });

  test('the operations are those that the role and the scopes allow', async () => {
    for (const role of ['member', 'builder', 'admin']) {
      const { operations } = (await signIn(at(), (await newKey(at(), role)).value)).me;
      const rank = ['anyone', 'member', 'builder', 'admin'];
      expect(operations.sort()).toEqual(
        Object.keys(requiredRoles)
          .filter((id) => rank.indexOf(requiredRoles[id]!) <= rank.indexOf(role))
          .sort(),
      );
    }
    const scoped = await newKey(at(), 'admin', { scopes: ['schedules:read'] });
    const { operations } = (await signIn(at(), scoped.value)).me;
    expect(operations).toEqual(expect.arrayContaining(['getMe', 'signOut', 'listSchedules']));
    expect(operations).not.toContain('createSchedule');
    expect(operations).not.toContain('listAudits');
  });

  test('a wrong key is 401 and sets no cookie, a missing one 400, another type 422', async () => {
    const app = at().as(undefined, '/app/api');
    for (const wrong of ['', 'x', `ap_${'0'.repeat(49)}`, 'x'.repeat(4_000)]) {
      const response = await app.post('/sessions', { api_key: wrong });
      expectError(response, 401);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expectError(await app.post('/sessions', {}), 400);
    expectError(await app.post('/sessions'), 400);
    for (const api_key of [null, 1, [adminKey]]) expectError(await app.post('/sessions', { api_key }), 422);
  });

  test('a body over 4 KB is not read', async () => {
    const app = at().as(undefined, '/app/api');
    expectError(await app.post('/sessions', { api_key: 'x'.repeat(4_096) }), 400, /4,096 bytes/);
  });

  test('the value is new each time, has 256 bits, and is stored as a hash only', async () => {
    const key = await newKey(at(), 'member');
    const [one, two] = [await signIn(at(), key.value), await signIn(at(), key.value)];
    const value = one.cookie.split('=')[1]!;
    expect(Buffer.from(value, 'base64url').length).toBe(32);
    expect(two.cookie).not.toBe(one.cookie);
    const rows = await at().sql`select * from sessions where id = ${one.me.session.id}`;
    expect(rows[0].value_hash).toBe(sha256(value));
    expect(JSON.stringify(rows)).not.toContain(value);
    const logged = await entriesOf(at(), 'session.create', one.me.session.id);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      principal: { id: key.id },
      outcome: 'done',
      details: { method: 'api_key' },
      context: { via: 'session', session_id: one.me.session.id, ip: '127.0.0.1' },
    });
    expect(JSON.stringify(logged)).not.toContain(value);
  });

  test('the session that the browser had ends, of any principal', async () => {
    const first = await signIn(at(), (await newKey(at(), 'member')).value);
    const second = await signIn(at(), (await newKey(at(), 'member')).value, first.cookie);
    expectError(await first.page.get('/me'), 401);
    await ok(second.page.get('/me'));
    const [entry] = await entriesOf(at(), 'session.create', second.me.session.id);
    expect(entry.details.ended_sessions).toEqual([first.me.session.id]);
    for (const cookie of ['ap_session=', 'ap_session=%00', 'ap_session=x', 'ap_session=é'])
      await signIn(at(), adminKey, encodeURI(cookie));
  });

  test('of more than 50 sessions the oldest ends, also when they begin at once', async () => {
    const key = await newKey(at(), 'member');
    const first = await signIn(at(), key.value);
    const others = await Promise.all(Array.from({ length: 49 }, () => signIn(at(), key.value)));
    await ok(first.page.get('/me'));
    await age(at(), first.me.session.id, 'created_at', 5);
    const last = await signIn(at(), key.value);
    expectError(await first.page.get('/me'), 401);
    const { data } = await ok(last.page.get('/sessions?limit=200'));
    expect(data).toHaveLength(50);
    expect(new Set(data.map((s: { id: string }) => s.id))).toEqual(
      new Set([...others, last].map(({ me }) => me.session.id)),
    );
    await Promise.all(Array.from({ length: 20 }, () => signIn(at(), key.value)));
    expect((await ok(at().as(key.value, '/app/api').get('/sessions?limit=200'))).data).toHaveLength(50);
  });
});

describeOnPostgres('a session ends', (at) => {
  test('with its key: revoked, expired, replaced by nothing', async () => {
    const revoked = await newKey(at(), 'member');
    const one = await signIn(at(), revoked.value);
    await ok(one.page.get('/me'));
    await ok(at().api.delete(`/api-keys/${revoked.id}`), 204);
    expectError(await one.page.get('/me'), 401);

    const expiring = await newKey(at(), 'member');
    const two = await signIn(at(), expiring.value);
    await ok(two.page.get('/me'));
    await at().sql`update api_keys set expires_at = platform_now() where id = ${expiring.id}`;
    await ended(two.page);
    // What has ended stays ended.
    await at().sql`update api_keys set expires_at = null where id = ${expiring.id}`;
    await until(
      async () => (await at().sql`select 1 from sessions where key_id = ${expiring.id}`).length === 0,
    );
  });

  test('says that it ends with its key, if that expires earlier', async () => {
    const expires_at = new Date(Date.now() + 600_000).toISOString();
    const { me, page } = await signIn(at(), (await newKey(at(), 'member', { expires_at })).value);
    expect(me.session.expires_at).toBe(expires_at);
    expect((await ok(page.get('/sessions'))).data[0].expires_at).toBe(expires_at);
    const late = new Date(Date.now() + 864_000_000).toISOString();
    const other = await signIn(at(), (await newKey(at(), 'member', { expires_at: late })).value);
    expect(Date.parse(other.me.session.expires_at)).toBe(
      Date.parse(other.me.session.created_at) + 28_800_000,
    );
  });

  test('a cached session ends at the very moment when its key does', async () => {
    const { used, expiresAt } = await newExpiringKey(at(), ({ value }) => signIn(at(), value));
    expect(await statusAfter(expiresAt, () => used.page.get('/me'))).toBe(401);
  });

  test('with the personal key of a person who is suspended, and acts as the person until then', async () => {
    const user = await newPerson(at(), 'builder');
    const { page, cookie } = await newPersonSession(at(), user);
    const key = await ok(
      browser(at(), cookie, '/api/v2').post('/api-keys', { name: 'mine', kind: 'personal' }),
      201,
    );
    const byKey = await signIn(at(), key.value);
    expect(byKey.me).toMatchObject({
      principal: { kind: 'person', id: user, name: 'Ada', role: 'builder' },
      user: { id: user, name: 'Ada', role: 'builder', status: 'active' },
      key_id: key.id,
      session: { user_id: user, key_id: key.id, method: 'api_key' },
    });
    await at().sql`update users set status = 'suspended' where id = ${user}`;
    await ended(byKey.page);
    await ended(page);
  });

  test('when its person has no role, and follows the role until then', async () => {
    const user = await newPerson(at(), 'admin');
    const { page, id } = await newPersonSession(at(), user);
    expect(await ok(page.get('/me'))).toMatchObject({
      principal: { kind: 'person', id: user, name: 'Ada', role: 'admin' },
      key_id: null,
      session: { id, user_id: user, key_id: null, method: 'oidc', current: true },
    });
    await at().sql`update users set role = 'member' where id = ${user}`;
    await until(async () => (await page.get('/me')).body.principal.role === 'member', 1_500);
    await at().sql`update users set role = null where id = ${user}`;
    await ended(page);
  });

  test('without requests, and at the latest after its longest time', async () => {
    const [idle, old, good] = [
      await signIn(at(), adminKey),
      await signIn(at(), adminKey),
      await signIn(at(), adminKey),
    ];
    await age(at(), good.me.session.id, 'last_seen_at', 28_790);
    await age(at(), idle.me.session.id, 'last_seen_at', 28_801);
    await age(at(), old.me.session.id, 'created_at', 86_401);
    expectError(await idle.page.get('/me'), 401, /session has ended/i);
    expectError(await old.page.get('/me'), 401);
    const { session } = await ok(good.page.get('/me'));
    expect(session.expires_at).toBe(new Date(Date.parse(session.last_seen_at) + 28_800_000).toISOString());
  });

  test('when limits are lowered, also if it began before; a raised limit does not bring it back', async () => {
    const { page, me } = await signIn(at(), adminKey);
    await age(at(), me.session.id, 'created_at', 600);
    await ok(page.get('/me'));
    await setSettings(at(), { SESSION_MAX_SECONDS: 601 + 60 });
    const { session } = await ok(page.get('/me'));
    expect(Date.parse(session.expires_at)).toBe(Date.parse(session.created_at) + 661_000);
    await setSettings(at(), { SESSION_MAX_SECONDS: 600 });
    expectError(await page.get('/me'), 401);
    await setSettings(at(), defaults);
    await until(
      async () => (await at().sql`select 1 from sessions where id = ${me.session.id}`).length === 0,
    );
    expectError(await page.get('/me'), 401);

    const quiet = await signIn(at(), adminKey);
    await age(at(), quiet.me.session.id, 'last_seen_at', 30);
    await setSettings(at(), { SESSION_IDLE_SECONDS: 20 });
    expectError(await quiet.page.get('/me'), 401);
    await setSettings(at(), defaults);
  });

  test('last_seen_at is written each minute or each tenth of the idle limit, not at each request', async () => {
    const { page, me } = await signIn(at(), adminKey);
    const { id } = me.session;
    const seen = async () =>
      (await at().sql`select last_seen_at from sessions where id = ${id}`)[0].last_seen_at.getTime();
    await age(at(), id, 'last_seen_at', 40);
    const before = await seen();
    for (let i = 0; i < 3; i++) await ok(page.get('/me'));
    expect(await seen()).toBe(before);
    await setSettings(at(), { SESSION_IDLE_SECONDS: 300 });
    await ok(page.get('/me'));
    await until(async () => (await seen()) > before);
    await setSettings(at(), defaults);
    await age(at(), id, 'last_seen_at', 100);
    await until(async () => {
      await page.get('/me');
      return (await seen()) > Date.now() - 10_000;
    }, 2_000);
  });
});

describeOnPostgres('listing and ending sessions', (at) => {
  const ids = (list: { data: { id: string }[] }) => list.data.map(({ id }) => id);

  test('everyone sees their own, newest first, page by page; ended ones are not there', async () => {
    const key = await newKey(at(), 'member');
    const three = [];
    for (let i = 0; i < 4; i++) three.push(await signIn(at(), key.value));
    await age(at(), three[0]!.me.session.id, 'last_seen_at', 30_000);
    const { page } = three[2]!;
    const list = await ok(page.get('/sessions'));
    expect(ids(list)).toEqual(
      three
        .slice(1)
        .reverse()
        .map(({ me }) => me.session.id),
    );
    expect(list.data.map((s: { current: boolean }) => s.current)).toEqual([false, true, false]);
    const first = await ok(page.get('/sessions?limit=2'));
    const second = await ok(page.get(`/sessions?limit=2&next=${first.next}`));
    expect([...ids(first), ...ids(second)]).toEqual(ids(list));
    const byKey = await ok(at().as(key.value, '/app/api').get('/sessions'));
    expect(byKey.data.every((s: { current: boolean }) => !s.current)).toBe(true);
    expectError(await page.delete(`/sessions/${three[0]!.me.session.id}`), 404);
  });

  test('an admin sees and ends those of a person; others get 403 and 404', async () => {
    const [ada, bob] = [await newPerson(at(), 'builder'), await newPerson(at(), 'builder', 'Bob')];
    const [one, two] = [await newPersonSession(at(), ada), await newPersonSession(at(), ada)];
    const other = await newPersonSession(at(), bob);
    const path = `/sessions?user_id=${ada}`;
    expect(ids(await ok(one.page.get(path))).sort()).toEqual([one.id, two.id].sort());
    expect(ids(await ok(at().app.get(path))).sort()).toEqual([one.id, two.id].sort());
    expectError(await other.page.get(path), 403, /admin/);
    expectError(await other.page.delete(path), 403, /admin/);
    expectError(await other.page.delete(`/sessions/${one.id}`), 404);
    for (const id of [unknownId, 'x', 'bootstrap'])
      expect(await ok(at().app.get(`/sessions?user_id=${id}`))).toMatchObject({ data: [] });
    for (const id of [unknownId, 'x']) expectError(await at().app.delete(`/sessions/${id}`), 404);
    await ok(at().app.delete(`/sessions/${one.id}`), 204);
    expectError(await one.page.get('/me'), 401);
    await ok(two.page.get('/me'));
    expectError(await at().app.delete(`/sessions/${one.id}`), 404);
    await ok(at().app.delete(path), 204);
    expectError(await two.page.get('/me'), 401);
    await ok(other.page.get('/me'));
    await ok(at().app.delete(path), 204);
    const [entry] = await entriesOf(at(), 'session.end', two.id);
    expect(entry).toMatchObject({
      principal: { id: 'bootstrap' },
      details: { reason: 'revoked', user_id: ada, method: 'oidc' },
    });
  });

  test('the sessions of others need the scope access of a key with scopes; one’s own need none', async () => {
    const ada = await newPerson(at(), 'member');
    const { id } = await newPersonSession(at(), ada);
    const withScopes = async (...scopes: string[]) =>
      at().as((await newKey(at(), 'admin', { scopes })).value, '/app/api');
    const path = `/sessions?user_id=${ada}`;
    const telemetry = await withScopes('telemetry');
    expectError(await telemetry.get(path), 403, /access:read/);
    expectError(await telemetry.delete(path), 403, /access/);
    expectError(await telemetry.delete(`/sessions/${id}`), 404);
    await ok(telemetry.get('/sessions'));
    await ok(telemetry.get('/me'));
    await ok(telemetry.delete('/sessions'), 204);
    const reader = await withScopes('access:read');
    expect(ids(await ok(reader.get(path)))).toEqual([id]);
    expectError(await reader.delete(path), 403, /scope access/);
    expectError(await reader.delete(`/sessions/${id}`), 404);
    const writer = await withScopes('access');
    await ok(writer.delete(`/sessions/${id}`), 204);
  });

  test('all others can be ended at once, and the present one kept', async () => {
    const key = await newKey(at(), 'member');
    const [a, b, c] = [
      await signIn(at(), key.value),
      await signIn(at(), key.value),
      await signIn(at(), key.value),
    ];
    for (const wrong of ['yes', '1', '']) {
      expectError(await a.page.delete(`/sessions?keep_current=${wrong}`), 422);
    }
    await ok(a.page.delete('/sessions?keep_current=true'), 204);
    await ok(a.page.get('/me'));
    expectError(await b.page.get('/me'), 401);
    expectError(await c.page.get('/me'), 401);
    await ok(a.page.delete('/sessions?keep_current=false'), 204);
    expectError(await a.page.get('/me'), 401);
  });

  test('signing out ends the session at once, clears the cookie, and is an entry', async () => {
    const { page, me } = await signIn(at(), adminKey);
    const response = await page.post('/sign-out');
    expect(await ok(Promise.resolve(response))).toEqual({ redirect_url: null });
    expect(response.headers.getSetCookie()).toEqual([
      'ap_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ]);
    expectError(await page.get('/me'), 401);
    expectError(await page.post('/sign-out'), 401);
    const [entry] = await entriesOf(at(), 'session.end', me.session.id);
    expect(entry).toMatchObject({
      details: { reason: 'sign_out' },
      context: { via: 'session', session_id: me.session.id },
    });
    expectError(await at().as(undefined, '/app/api').post('/sign-out'), 401);
  });

  test('with an API key there is nothing to sign out of', async () => {
    const key = await newKey(at(), 'member');
    const { page } = await signIn(at(), key.value);
    const response = await at().as(key.value, '/app/api').post('/sign-out');
    expect(await ok(Promise.resolve(response))).toEqual({ redirect_url: null });
    await ok(page.get('/me'));
  });

  test('the responses are stored nowhere', async () => {
    const { page, me } = await signIn(at(), adminKey);
    for (const path of ['/me', '/sessions']) {
      expect((await page.get(path)).headers.get('cache-control')).toBe('no-store');
    }
    const deleted = await page.delete(`/sessions/${me.session.id}`);
    expect(deleted.headers.get('cache-control')).toBe('no-store');
  });
});

describe('a request with a cookie', () =>
  withPlatform('postgres', (at) => {
    test('costs one indexed query in 0.9 s, which joins session, key and person, and no write', async () => {
      const { cookie } = await signIn(at(), (await newKey(at(), 'member')).value);
      const page = browser(at(), cookie, '/api/v2');
      const statements: string[] = [];
      const begun = performance.now();
      {
        using _intercepted = interceptStatements((statement, send) => {
          statements.push(statement.text);
          return send(statement);
        });
        for (let i = 0; i < 30; i++) await ok(page.get('/agents'));
      }
      const lookUps = 1 + Math.ceil((performance.now() - begun) / 850);
      // Housekeeping runs by itself: it may fall into these 0.9 s, and is no cost of a request.
      const housekeeping = /^delete from sessions where id in \(select id from sessions/;
      const own = statements.filter(
        (text) => /sessions|api_keys|users/.test(text) && !housekeeping.test(text),
      );
      expect(own.length).toBeLessThanOrEqual(lookUps);
      expect(own.filter((text) => !text.startsWith('select'))).toEqual([]);
      await at().db.tx(async (tx) => {
        await sql`set local enable_seqscan = off`.execute(tx);
        const { rows } = await sql<Record<string, string>>`explain ${sql.raw(
          own[0]!.replace('$1', `'${'0'.repeat(64)}'`),
        )}`.execute(tx);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(/Index Scan using sessions_value_hash_key/);
        expect(plan).toMatch(/Index Scan using api_keys_pkey/);
        expect(plan).toMatch(/Index Scan using users_pkey/);
      });
    });
  }));

describe('signing in again and again', () =>
  withPlatform('postgres', (at) => {
    /** Sends 260 at once to a full bucket. A clock that was set back adds nothing to it, however long the machine needs. */
    const burst = async (send: () => Promise<ClientResponse>): Promise<ClientResponse[]> => {
      at().test.clock.advance(120_000);
      await send();
      at().test.clock.advance(-60_000);
      return Promise.all(Array.from({ length: 260 }, send));
    };

    test('is throttled by the address after failures, and a valid key is never refused for them', async () => {
      const app = at().as(undefined, '/app/api');
      const signInWith = (api_key: string) => app.post('/sessions', { api_key });
      // All 260 may be under way before the first fails: one more is surely late.
      const responses = [...(await burst(() => signInWith('x'))), await signInWith('x')];
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401, 429]));
      const throttled = responses.filter(({ status }) => status === 429);
      expectError(throttled[0]!, 429);
      expect(Number(throttled[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
      const admitted = await signInWith(adminKey);
      expect(admitted.status).toBe(200);
      // It counts against the key instead.
      expect(admitted.headers.get('ratelimit')).not.toBeNull();
      await ok(at().api.get('/agents'));
    });

    test.each([
      ['a missing key', '{}'],
      ['a key of another type', '{"api_key":1}'],
      ['what is not JSON', '{'],
      ['a body that is too large', `{"api_key":"${'x'.repeat(4_096)}"}`],
    ])('%s counts like a wrong key', async (_what, body) => {
      const attempt = () =>
        at()
          .as(undefined, '/app/api')
          .raw('POST', '/sessions', body, { headers: { 'content-type': 'application/json' } });
      const statuses = (await burst(attempt)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([body.includes('1') ? 422 : 400, 429]));
    });
  }));
