import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { epoch, type ForgingProvider, startForgingProvider } from '../harness/forging-provider.ts';
import { signIn } from '../harness/sign-in.ts';
import { expectError, type Fixture, ok, query, startFixture, usualDatabases } from './fixture.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';

describe.each(usualDatabases)('back-channel logout on the %s database', (database) => {
  let idp: ForgingProvider;
  let at: Fixture;
  beforeAll(async () => {
    idp = await startForgingProvider();
    at = await startFixture(database, idp.env);
    for (const name of ['alice', 'bob']) {
      await query(
        at,
        sql`insert into role_mappings (id, claim, value, role) values (${newId()}, 'sub', ${name}, 'member')`,
      );
    }
  });
  afterAll(async () => {
    await at?.test.stop();
    await idp?.[Symbol.asyncDispose]();
  });
  beforeEach(() => idp.reset());

  const post = (form: string, type = 'application/x-www-form-urlencoded') =>
    at
      .as(undefined, '/app/api')
      .raw('POST', '/sign-in/back-channel-logout', form, { headers: { 'content-type': type } });
  const logOut = (token: string) => post(new URLSearchParams({ logout_token: token }).toString());
  const claimsFor = (claims: Record<string, unknown> = {}) => ({
    iss: idp.issuer,
    aud: 'agent-platform',
    iat: epoch(),
    exp: epoch() + 120,
    jti: newId(),
    sub: 'alice',
    events: { [event]: {} },
    ...claims,
  });
  const token = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
    idp.sign(claimsFor(claims), header);
  const enter = async (account: string, sid?: string): Promise<string> => {
    idp.script.claims = (claims) => ({ ...claims, ...(sid === undefined ? {} : { sid }) });
    return (await signIn(at.test, account)).cookie!;
  };
  const isIn = async (cookie: string): Promise<boolean> =>
    (await fetch(`${at.test.origin}/app/api/me`, { headers: { cookie } })).status === 200;

  test('a body over 64 KB, and a form of more than 100 fields, are not read', async () => {
    expectError(await logOut('x'.repeat(64 * 1024)), 400, /65,536 bytes/);
    const fields = Array.from({ length: 101 }, (_, i) => `f${i}=1`);
    expectError(await post(fields.join('&')), 400, /100 fields/);
  });

  test('ends the session with the sid, else all of the subject, and no one else’s', async () => {
    const [a, b, c, bob] = [
      await enter('alice', 'sid-a'),
      await enter('alice', 'sid-b'),
      await enter('alice'),
      await enter('bob', 'sid-bob'),
    ];
    const response = await logOut(await token({ sid: 'sid-a' }));
    expect([response.status, response.text]).toEqual([200, '']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect([await isIn(a), await isIn(b), await isIn(c)]).toEqual([false, true, true]);
    expect((await logOut(await token({ sub: undefined, sid: 'sid-b' }))).status).toBe(200);
    expect([await isIn(b), await isIn(c)]).toEqual([false, true]);
    expect((await logOut(await token())).status).toBe(200);
    expect([await isIn(c), await isIn(bob)]).toEqual([false, true]);
    const [entry] = (await ok(at.api.get('/audits?action=session.end'))).data;
    expect(entry).toMatchObject({
      principal: { kind: 'system', id: 'identity_provider' },
      details: { reason: 'back_channel' },
      context: { via: 'system', ip: '127.0.0.1' },
    });
  });

  test('keys and sessions of keys stay', async () => {
    const cookie = await enter('alice');
    const me = await fetch(`${at.test.origin}/app/api/me`, { headers: { cookie } });
    const { user } = (await me.json()) as { user: { id: string } };
    const made = await fetch(`${at.test.origin}/api/v2/api-keys`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mine', kind: 'personal' }),
    });
    const { value } = (await made.json()) as { value: string };
    const session = await at.as(undefined, '/app/api').post('/sessions', { api_key: value });
    const keyCookie = session.headers.getSetCookie()[0]!.split(';')[0]!;
    await logOut(await token());
    expect(await isIn(cookie)).toBe(false);
    expect(await isIn(keyCookie)).toBe(true);
    await ok(at.as(value).get('/agents'));
    expect(user.id).toBeTruthy();
  });

  test('a session that was made in the same second ends, a later one does not', async () => {
    const [same, later] = [await enter('alice', 'same'), await enter('alice', 'later')];
    const iat = epoch() - 100;
    const at100 = (cookieSid: string, offset: string) =>
      query(
        at,
        sql`update sessions set created_at = to_timestamp(${iat}) + ${offset}::interval where provider_sid = ${cookieSid}`,
      );
    await at100('same', '0.9 seconds');
    await at100('later', '1.1 seconds');
    expect((await logOut(await token({ iat }))).status).toBe(200);
    expect([await isIn(same), await isIn(later)]).toEqual([false, true]);
  });

  test('of someone or something unknown is 200', async () => {
    expect((await logOut(await token({ sub: 'nobody' }))).status).toBe(200);
    expect((await logOut(await token({ sid: 'no such' }))).status).toBe(200);
    expect((await logOut(await token({ sid: 'x'.repeat(3_000) }))).status).toBe(200);
  });

  test('a token works once, also ten times at once, and is remembered as long as it is valid', async () => {
    const once = await token();
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await logOut(once)).status));
    expect(statuses.sort()).toEqual([200, ...Array(9).fill(400)]);
    expectError(await logOut(once), 400, /used already/);
    const rows = await query(
      at,
      sql`select extract(epoch from max(expires_at) - now())::int as seconds from used_once
        where expires_at < now() + interval '10 minutes'`,
    );
    expect(rows[0].seconds).toBeGreaterThan(170);
    expect(rows[0].seconds).toBeLessThan(190);
  });

  test.each<[string, Record<string, unknown>]>([
    ['JWT', { typ: 'JWT' }],
    ['logout+jwt', { typ: 'logout+jwt' }],
  ])('the type may be %s', async (_name, header) => {
    expect((await logOut(await token({}, header))).status).toBe(200);
  });

  /** The time so many seconds ago, when the test runs. */
  const ago = (seconds: number) => () => epoch() - seconds;
  const resolved = (claims: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    );

  test.each<[string, Record<string, unknown>]>([
    ['of 5 minutes and the tolerance ago', { iat: ago(350) }],
    ['with several audiences', { aud: ['another', 'agent-platform'] }],
  ])('a token %s is accepted', async (_name, claims) => {
    expect((await logOut(await token(resolved(claims)))).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'another' }],
    ['without an audience', { aud: undefined }],
    ['that has expired', { exp: ago(100) }],
    ['without exp', { exp: undefined }],
    ['of the future', { iat: ago(-100) }],
    ['of 6 minutes ago', { iat: ago(370) }],
    ['without iat', { iat: undefined }],
    ['without jti', { jti: undefined }],
    ['whose jti is a number', { jti: 7 }],
    ['without events', { events: undefined }],
    ['with another event', { events: { 'http://schemas.openid.net/event/other': {} } }],
    ['with an event that is no object', { events: { [event]: true } }],
    ['with events as a list', { events: [event] }],
    ['without sub and sid', { sub: undefined }],
    ['with a sub that is no text', { sub: 7 }],
    ['with a sid that is no text', { sid: { a: 1 } }],
    ['with a nonce', { nonce: 'n' }],
    ['with NUL', { sid: 'a\0b' }],
    ['of another type', {}, { typ: 'at+jwt' }],
    ['of a type that is no text', {}, { typ: 7 }],
  ])('a token %s is refused', async (_name, claims, header = {}) => {
    const cookie = await enter('alice');
    const response = await logOut(await token(resolved(claims), header));
    expect(response.status, response.text).toBe(400);
    expect(response.body.error.code).toBe('bad_request');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await isIn(cookie)).toBe(true);
  });

  test('an ID token is no logout token', async () => {
    const idToken = await idp.sign({
      iss: idp.issuer,
      aud: 'agent-platform',
      sub: 'alice',
      iat: epoch(),
      exp: epoch() + 60,
      nonce: 'n',
    });
    expectError(await logOut(idToken), 400);
  });

  test('a signature of another key, none, or HS256 is refused, and an unknown key is looked for once a minute', async () => {
    await logOut(await token());
    const forged = await idp.sign(claimsFor(), {}, idp.otherKey.privateKey);
    expectError(await logOut(forged), 400, /signature/);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const alg of ['none', 'HS256', 'RS256', 'constructor']) {
      expectError(await logOut(`${part({ alg })}.${part(claimsFor())}.AAAA`), 400, /signature/);
    }
    idp.requests.length = 0;
    for (let n = 0; n < 10; n++) {
      expectError(
        await logOut(await idp.sign(claimsFor(), { kid: `unknown ${n}` }, idp.otherKey.privateKey)),
        400,
      );
    }
    expect(idp.count('jwks')).toBeLessThanOrEqual(1);
    expect(idp.count('discovery')).toBeLessThanOrEqual(1);
  });

  test('what is no form or no token is 400', async () => {
    expectError(await post(''), 400);
    expectError(await post('other=1'), 400, /logout_token/);
    expectError(await post('logout_token=a&logout_token=b'), 400);
    expectError(await post('logout_token='), 400);
    expectError(await post('logout_token=a.b.c'), 400);
    expectError(await post(JSON.stringify({ logout_token: 'x' }), 'application/json'), 400);
    expectError(await post(`logout_token=${'a'.repeat(500_000)}`), 400);
  });
});
