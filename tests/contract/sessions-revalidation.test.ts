import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';
import { signIn } from '../harness/sign-in.ts';
import { until } from '../harness/wait.ts';
import { expectError, type Fixture, ok, query, setSettings, startFixture, useReplicas } from './fixture.ts';
import { browser } from './sessions-fixture.ts';

describe('two replicas and a certified provider whose refresh tokens are good for one use', () => {
  let idp: IdentityProvider;
  let a: Fixture;
  let b: Fixture;
  // Hooks after tests run in reverse order: the replicas stop first.
  afterAll(() => idp?.stop());
  useReplicas(
    (...replicas) => {
      [a, b] = replicas;
    },
    async () => {
      idp = await startIdentityProvider();
      return idp.env;
    },
  );
  beforeAll(async () => {
    await ok(a.api.post('/role-mappings', { claim: 'groups', value: 'staff', role: 'member' }));
    await ok(a.api.post('/role-mappings', { claim: 'groups', value: 'builders', role: 'builder' }));
    const ready = async (fixture: Fixture) =>
      (await fixture.as(undefined, '/app/api').get('/sign-in/options')).body.oidc.ready;
    await until(async () => (await ready(a)) && (await ready(b)));
  });

  let people = 0;
  /** Signs a new person in. */
  const newSession = async (groups: string[] = ['staff']) => {
    const subject = `person ${++people}`;
    idp.accounts.set(subject, { name: subject, email: `${people}@example.com`, groups });
    const { cookie } = await signIn(a.test, subject);
    const [here, there] = [browser(a, cookie!), browser(b, cookie!)];
    const me = await ok(here.get('/me'));
    const id: string = me.session.id;
    return { subject, cookie: cookie!, here, there, me, id };
  };

  /** Moves the session so far into the past that the provider must be asked. */
  const makeDue = async (id: string) => {
    await query(
      a,
      sql`update sessions set confirmed_at = confirmed_at - interval '901 seconds', retry_at = null where id = ${id}`,
    );
    // Each replica reads the settings, and with them forgets what it cached of sessions.
    for (const fixture of [a, b]) await setSettings(fixture, {});
  };
  const tokenRequests = () => idp.requests.filter((request) => request === 'POST /token').length;
  const reasonsOf = async (id: string) =>
    (await ok(a.api.get(`/audits?action=session.end&target_id=${id}`))).data.map(
      (entry: { details: { reason: string } }) => entry.details.reason,
    );

  test('a person’s session acts as the person', async () => {
    const { me, subject } = await newSession();
    expect(me).toMatchObject({
      principal: { kind: 'person', id: me.user.id, name: subject, role: 'member' },
      user: { identity: { issuer: idp.issuer, subject }, role: 'member' },
      key_id: null,
      session: { user_id: me.user.id, key_id: null, method: 'oidc', current: true },
    });
  });

  test('of 50 parallel requests on a session that is due, one refreshes, and all go on', async () => {
    const { id, here, there } = await newSession();
    await ok(there.get('/me'));
    for (let round = 0; round < 3; round++) {
      await makeDue(id);
      const before = tokenRequests();
      idp.delayMs = 150;
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => (await [here, there][n % 2]!.get('/me')).status),
      );
      idp.delayMs = 0;
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(tokenRequests() - before).toBe(1);
    }
  });

  test('a person who was removed at the provider gets 401 on both, and the ending is an entry', async () => {
    const { id, here, there, subject } = await newSession();
    idp.accounts.delete(subject);
    await ok(here.get('/me'));
    await makeDue(id);
    const responses = await Promise.all([
      here.get('/me'),
      there.get('/me'),
      here.get('/me'),
      there.get('/me'),
    ]);
    for (const response of responses) expectError(response, 401, /ended/);
    expect(await reasonsOf(id)).toEqual(['provider_refused']);
  });

  test('claims, role and last_confirmed_at are renewed; who has no role any more loses the session', async () => {
    const { id, here, subject, me } = await newSession();
    idp.accounts.set(subject, { name: 'Renamed', email: 'new@example.com', groups: ['staff', 'builders'] });
    await makeDue(id);
    const after = await ok(here.get('/me'));
    expect(after).toMatchObject({
      principal: { name: 'Renamed', role: 'builder' },
      user: { id: me.user.id, email: 'new@example.com', role: 'builder' },
      session: { id },
    });
    expect(Date.parse(after.user.last_confirmed_at)).toBeGreaterThan(Date.parse(me.user.last_confirmed_at));
    expect(after.user.last_sign_in_at).toBe(me.user.last_sign_in_at);
    idp.accounts.set(subject, { name: 'Renamed', groups: [] });
    await makeDue(id);
    expectError(await here.get('/me'), 401);
    expect(await reasonsOf(id)).toEqual(['role_lost']);
  });

  test('incomplete claims end the session; the stored role stays', async () => {
    const { id, here, subject, me } = await newSession();
    idp.accounts.set(subject, { name: subject, hasgroups: true });
    await makeDue(id);
    expectError(await here.get('/me'), 401);
    expect(await reasonsOf(id)).toEqual(['provider_refused']);
    expect(await ok(a.api.get(`/users/${me.user.id}`))).toMatchObject({ role: 'member', status: 'active' });
  });

  test('while the provider is down the session goes on, and it is asked once a minute', async () => {
    const { id, here, there } = await newSession();
    await makeDue(id);
    const before = tokenRequests();
    idp.down = true;
    await Promise.all(Array.from({ length: 10 }, (_, n) => ok([here, there][n % 2]!.get('/me'))));
    await ok(here.get('/me'));
    expect(tokenRequests() - before).toBe(1);
    idp.down = false;
    await query(a, sql`update sessions set retry_at = platform_now() where id = ${id}`);
    await until(async () => {
      await ok(here.get('/me'));
      return tokenRequests() - before === 2;
    }, 2_000);
    await query(a, sql`update sessions set created_at = created_at - interval '1 day' where id = ${id}`);
    await until(async () => (await here.get('/me')).status === 401, 2_000);
  });

  test('signing out names the address that ends the session at the provider, and revokes the refresh token', async () => {
    const { here, there, id } = await newSession();
    await ok(there.get('/me'));
    idp.delayMs = 8_000;
    const begun = performance.now();
    const { redirect_url } = await ok(here.post('/sign-out'));
    expect(performance.now() - begun).toBeLessThan(6_000);
    idp.delayMs = 0;
    const redirect = new URL(redirect_url);
    expect(redirect.origin).toBe(idp.issuer);
    const parameters = Object.fromEntries(redirect.searchParams);
    expect(parameters).toEqual({
      id_token_hint: expect.stringMatching(/^ey/),
      client_id: 'agent-platform',
      post_logout_redirect_uri: `${idp.env.PUBLIC_URL}/`,
    });
    expectError(await here.get('/me'), 401);
    await until(async () => (await there.get('/me')).status === 401, 1_000);
    await until(() => idp.requests.includes('POST /token/revocation'), 5_000);
    expect(await reasonsOf(id)).toEqual(['sign_out']);
  });

  test('a suspended person loses the sessions at once here, and within a second there', async () => {
    const { me, here, there, id } = await newSession();
    await Promise.all([ok(here.get('/me')), ok(there.get('/me'))]);
    await ok(a.api.patch(`/users/${me.user.id}`, { status: 'suspended' }));
    expectError(await here.get('/me'), 401);
    await until(async () => (await there.get('/me')).status === 401, 1_000);
    expect(await reasonsOf(id)).toEqual(['revoked']);
  });

  test('a back-channel logout of the provider ends its sessions, and no other of the person', async () => {
    const { me, here, cookie, subject } = await newSession();
    const key = await ok(
      browser(a, cookie, '/api/v2').post('/api-keys', { name: 'mine', kind: 'personal' }),
      201,
    );
    await ok(here.get('/me'));
    await idp.logOut(subject);
    expectError(await here.get('/me'), 401);
    expect((await ok(a.as(key.value, '/app/api').get('/me'))).user.id).toBe(me.user.id);
  });

  test('tokens are sealed at rest, each for its row and column', async () => {
    const { id } = await newSession();
    const [row] = await query(a, sql`select * from sessions where id = ${id}`);
    expect(row.id_token).toMatch(/^v1\./);
    expect(row.refresh_token).toMatch(/^v1\./);
    expect(
      a.test.platform.features.list.flatMap(({ secrets = [] }) =>
        secrets.map((s) => `${s.table}.${s.column}`),
      ),
    ).toEqual(expect.arrayContaining(['sessions.id_token', 'sessions.refresh_token']));
  });
});

describe('a provider without refresh tokens', () => {
  test('is never asked: the longest time of a session is the bound', async () => {
    await using idp = await startIdentityProvider({
      accounts: { ada: { name: 'Ada' } },
      refreshTokens: false,
    });
    const at = await startFixture('postgres', idp.env);
    try {
      await ok(at.api.patch('/advanced-settings', { DEFAULT_ROLE: 'member' }));
      await until(async () => (await at.as(undefined, '/app/api').get('/sign-in/options')).body.oidc.ready);
      const { cookie } = await signIn(at.test, 'ada');
      const page = browser(at, cookie!);
      const before = idp.requests.length;
      await query(at, sql`update sessions set confirmed_at = confirmed_at - interval '86000 seconds'`);
      await ok(page.get('/me'));
      expect(idp.requests.length).toBe(before);
      await query(at, sql`update sessions set created_at = created_at - interval '86400 seconds'`);
      await until(async () => (await page.get('/me')).status === 401, 2_000);
    } finally {
      await at.test.stop();
    }
  });
});
