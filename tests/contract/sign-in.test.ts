import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { Browser } from '../harness/browser.ts';
import { type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';
import { signIn } from '../harness/sign-in.ts';
import { until } from '../harness/wait.ts';
import { type Fixture, ok, query, setSettings, startFixture, usualDatabases } from './fixture.ts';

describe.each(usualDatabases)('sign-in with a certified provider, on the %s database', (database) => {
  let idp: IdentityProvider;
  let at: Fixture;
  beforeAll(async () => {
    idp = await startIdentityProvider({
      accounts: {
        alice: { name: 'Alice', email: 'Alice@Example.com', email_verified: true },
        builder: { name: 'Bob', groups: ['builders'], email: 'bob@example.com', email_verified: true },
        double: { groups: ['builders'], email: 'bob@example.com', email_verified: true },
        unverified: { email: 'invited@example.com', email_verified: false },
        lookalike: { email: 'inv\u0456ted@example.com', email_verified: true },
        late: { email: 'invited@example.com', email_verified: 'true' },
      },
    });
    at = await startFixture(database, idp.env);
    await ok(at.api.post('/role-mappings', { claim: 'groups', value: 'builders', role: 'builder' }));
  });
  afterAll(async () => {
    await at?.test.stop();
    await idp?.stop();
  });

  const me = async (cookie: string | null) => {
    const response = await fetch(`${at.test.origin}/app/api/me`, { headers: { cookie: cookie ?? '' } });
    // biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
    return { status: response.status, body: (await response.json()) as any };
  };
  const sidOf = async (sessionId: string): Promise<string> =>
    (await query(at, sql`select provider_sid from sessions where id = ${sessionId}`))[0].provider_sid;

  test('who is invited by a verified e-mail is that person, for ever', async () => {
    const { id } = await ok(at.api.post('/users', { email: 'alice@example.com', role: 'builder' }));
    const { page, cookie } = await signIn(at.test, 'alice', { returnTo: '/agents?x=1#top' });
    expect(page.status, page.text).toBe(303);
    expect(page.headers.get('location')).toBe('/agents?x=1#top');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^ap_sign_in_[\w-]{8}=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^ap_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await me(cookie)).body).toMatchObject({
      principal: { kind: 'person', id, name: 'Alice', role: 'builder' },
      session: { method: 'oidc', user_id: id, key_id: null },
    });
    expect(await ok(at.api.get(`/users/${id}`))).toMatchObject({
      status: 'active',
      identity: { issuer: idp.issuer, subject: 'alice' },
      role_source: 'manual',
      email: 'alice@example.com',
    });
    // The e-mail changes, the person does not.
    idp.accounts.set('alice', { name: 'Alice B.', email: 'other@example.com', email_verified: true });
    const again = await signIn(at.test, 'alice');
    expect((await me(again.cookie)).body.principal).toMatchObject({ id, name: 'Alice B.' });
    const [entry] = (await ok(at.api.get('/audits?action=session.create&outcome=done'))).data;
    expect(entry).toMatchObject({
      principal: { kind: 'person', id },
      details: { method: 'oidc', issuer: idp.issuer, subject: 'alice' },
      context: { ip: '127.0.0.1', via: 'session' },
    });
    expect(JSON.stringify(entry)).not.toContain(again.cookie!.split('=')[1]);
  });

  test('an e-mail that is not verified, or looks alike, binds no invitation', async () => {
    const { id } = await ok(at.api.post('/users', { email: 'invited@example.com', role: 'admin' }));
    for (const account of ['unverified', 'lookalike']) {
      const { page } = await signIn(at.test, account);
      expect(page.status, page.text).toBe(403);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.text).toContain('You cannot sign in');
    }
    expect(await ok(at.api.get(`/users/${id}`))).toMatchObject({ status: 'invited', identity: null });
    expect((await signIn(at.test, 'late')).page.status).toBe(303);
    expect(await ok(at.api.get(`/users/${id}`))).toMatchObject({ status: 'active', role: 'admin' });
  });

  test('groups that only UserInfo has give the role; another person may have the same e-mail', async () => {
    const first = await me((await signIn(at.test, 'builder')).cookie);
    const second = await me((await signIn(at.test, 'double')).cookie);
    expect(first.body.principal.role).toBe('builder');
    expect(second.body.principal.id).not.toBe(first.body.principal.id);
  });

  test('a sign-in ends the session that the browser had, and no other', async () => {
    const browser = new Browser();
    const first = await signIn(at.test, 'builder', { browser });
    const elsewhere = await signIn(at.test, 'builder');
    const second = await signIn(at.test, 'builder', { browser });
    expect(second.cookie).not.toBe(first.cookie);
    expect((await me(first.cookie)).status).toBe(401);
    expect((await me(second.cookie)).status).toBe(200);
    expect((await me(elsewhere.cookie)).status).toBe(200);
  });

  test('who is unknown to the provider is refused there', async () => {
    const { page } = await signIn(at.test, 'nobody');
    expect(page.status).toBe(403);
    expect(page.text).not.toContain('no such account');
  });

  test('the provider logs out one session, or all of a person', async () => {
    const sessions = [
      await signIn(at.test, 'builder'),
      await signIn(at.test, 'builder'),
      await signIn(at.test, 'builder'),
    ];
    const [a, b, c] = sessions.map(({ cookie }) => cookie);
    const sid = await sidOf((await me(a!)).body.session.id);
    await idp.logOut('builder', sid);
    expect([(await me(a!)).status, (await me(b!)).status]).toEqual([401, 200]);
    await idp.logOut('builder');
    expect([(await me(b!)).status, (await me(c!)).status]).toEqual([401, 401]);
    const ended = (await ok(at.api.get('/audits?action=session.end&limit=200'))).data.filter(
      (entry: { details: { reason: string } }) => entry.details.reason === 'back_channel',
    );
    expect(ended.length).toBeGreaterThanOrEqual(3);
  });

  test('a session is confirmed by the provider: a new role is in effect, and who was removed is out', async () => {
    await setSettings(at, { SESSION_REVALIDATION_SECONDS: 5 });
    const { cookie } = await signIn(at.test, 'double');
    const isDue = async () => {
      await query(
        at,
        sql`update sessions set confirmed_at = confirmed_at - interval '1 minute', retry_at = null`,
      );
      // A session is cached for a moment.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    };
    await ok(at.api.post('/role-mappings', { claim: 'groups', value: 'chiefs', role: 'admin' }));
    idp.accounts.set('double', { groups: ['chiefs'], email: 'bob@example.com' });
    await isDue();
    expect((await me(cookie)).body.principal.role).toBe('admin');
    idp.down = true;
    await isDue();
    expect((await me(cookie)).status).toBe(200);
    idp.down = false;
    idp.accounts.delete('double');
    await isDue();
    expect((await me(cookie)).status).toBe(401);
    await setSettings(at, { SESSION_REVALIDATION_SECONDS: 900 });
  });

  test('a sign-out goes on at the provider, where the refresh token is revoked', async () => {
    const { cookie, browser } = await signIn(at.test, 'alice');
    const headers = { cookie: cookie!, 'sec-fetch-site': 'same-origin' };
    const response = await fetch(`${at.test.origin}/app/api/sign-out`, { method: 'POST', headers });
    const url = new URL(((await response.json()) as { redirect_url: string }).redirect_url);
    expect(url.origin).toBe(idp.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'agent-platform',
      post_logout_redirect_uri: `${at.test.origin}/`,
      id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    const page = await browser.get(url.href);
    expect(page.status, page.text).toBe(200);
    await until(() => idp.requests.includes('POST /token/revocation'), 2_000);
  });
});
