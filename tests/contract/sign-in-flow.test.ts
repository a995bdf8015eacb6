import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { Browser } from '../harness/browser.ts';
import { type ForgingProvider, startForgingProvider } from '../harness/forging-provider.ts';
import { rawRequest } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { passProvider, signIn, startSignIn } from '../harness/sign-in.ts';
import { until } from '../harness/wait.ts';
import { expectError, type Fixture, ok, query, startFixture, useReplicas } from './fixture.ts';

let idp: ForgingProvider;
let at: Fixture;
beforeAll(async () => {
  idp = await startForgingProvider();
  at = await startFixture('postgres', idp.env);
  await query(
    at,
    sql`insert into role_mappings (id, claim, value, role) values (${newId()}, 'sub', 'alice', 'member')`,
  );
});
afterAll(async () => {
  await at?.test.stop();
  await idp?.[Symbol.asyncDispose]();
});
beforeEach(() => idp.reset());

const begin = async (browser: Browser, returnTo?: string): Promise<string> =>
  passProvider(browser, await startSignIn(browser, at.test.origin, returnTo), 'alice');

const json = { accept: 'application/json' };
const expectExpired = async (browser: Browser, callback: string): Promise<void> => {
  const page = await browser.get(callback, json);
  expectError({ ...page, body: JSON.parse(page.text) }, 400, /Start it again/, { reason: 'flow_expired' });
};

describe('the ways to sign in', () => {
  test('name the provider', async () => {
    expect(await ok(at.as(undefined, '/app/api').get('/sign-in/options'))).toEqual({
      oidc: { name: 'single sign-on', ready: true },
      api_key: true,
    });
  });

  test('are API keys alone without a provider: the rest is 404', async () => {
    const without = await startFixture('postgres');
    try {
      const app = without.as(undefined, '/app/api');
      expect(await ok(app.get('/sign-in/options'))).toEqual({ oidc: null, api_key: true });
      expectError(await app.get('/sign-in', { headers: json }), 404, /OIDC_ISSUER/);
      expectError(await app.get('/sign-in/callback?code=a&state=b', { headers: json }), 404);
      const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
      expectError(await app.raw('POST', '/sign-in/back-channel-logout', 'logout_token=x', form), 404);
      const page = await without.test.as(undefined, '/app/api').get('/sign-in');
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    } finally {
      await without.test.stop();
    }
  });
});

describe('a sign-in belongs to one browser, and works once', () => {
  test('sign-ins that were abandoned do not pile up: of more than ten the oldest are cleared', async () => {
    const browser = new Browser();
    const states: string[] = [];
    for (let i = 0; i < 14; i++) {
      const location = await startSignIn(browser, at.test.origin);
      states.push(new URL(location).searchParams.get('state')!.slice(0, 8));
    }
    const kept = states.filter(
      (state) => browser.cookie(at.test.origin, `ap_sign_in_${state}`) !== undefined,
    );
    expect(kept).toEqual(states.slice(-10));
  });

  test('a HEAD of the callback neither signs in nor uses the sign-in up', async () => {
    const browser = new Browser();
    const callback = await begin(browser);
    const head = await fetch(callback, {
      method: 'HEAD',
      redirect: 'manual',
      headers: { cookie: browser.cookiesFor(callback)!, authorization: `Bearer ${adminKey}` },
    });
    expect([head.status, head.headers.get('set-cookie')]).toEqual([404, null]);
    expect((await browser.get(callback)).status).toBe(303);
  });

  test('two tabs do not disturb each other', async () => {
    const browser = new Browser();
    const [a, b] = [await begin(browser, '/a'), await begin(browser, '/b')];
    expect((await browser.get(b)).headers.get('location')).toBe('/b');
    expect((await browser.get(a)).headers.get('location')).toBe('/a');
  });

  test('a callback that is opened again is refused, also elsewhere with a copy of the cookie', async () => {
    const browser = new Browser();
    const callback = await begin(browser);
    const copy = browser.cookiesFor(at.test.origin)!;
    expect((await browser.get(callback)).status).toBe(303);
    await expectExpired(browser, callback);
    const page = await new Browser().get(callback, { cookie: copy, ...json });
    expectError({ ...page, body: JSON.parse(page.text) }, 400, /used already/, { reason: 'flow_expired' });
    expect(idp.count('token')).toBe(1);
  });

  test('of a callback that is opened ten times at once, one signs in', async () => {
    const browser = new Browser();
    const callback = await begin(browser);
    const cookie = browser.cookiesFor(at.test.origin)!;
    const pages = await Promise.all(
      Array.from({ length: 10 }, () => new Browser().get(callback, { cookie })),
    );
    expect(pages.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(idp.count('token')).toBe(1);
  });

  test('a callback in another browser is refused', async () => {
    const callback = await begin(new Browser());
    await expectExpired(new Browser(), callback);
    const other = new Browser();
    await begin(other);
    await expectExpired(other, callback);
  });

  test('a cookie of another sign-in under the name of this one is refused', async () => {
    const browser = new Browser();
    const callback = await begin(browser);
    const other = new Browser();
    await begin(other);
    const state = new URL(callback).searchParams.get('state')!;
    const value = other.cookiesFor(at.test.origin)!.split('=')[1]!;
    browser.setCookie(at.test.origin, `ap_sign_in_${state.slice(0, 8)}`, value);
    await expectExpired(browser, callback);
    browser.setCookie(at.test.origin, `ap_sign_in_${state.slice(0, 8)}`, 'v1.made.up.value');
    await expectExpired(browser, callback);
    expect(idp.count('token')).toBe(0);
  });

  test('a cookie that the browser kept for more than 10 minutes is refused', async () => {
    const browser = new Browser();
    const [late, later] = [await begin(browser), await begin(browser)];
    at.test.clock.advance(595_000);
    try {
      // The tokens of the provider are of the past by now.
      await browser.get(late, json).then((page) => expect(page.text).not.toContain('flow_expired'));
      at.test.clock.advance(6_000);
      await expectExpired(browser, later);
    } finally {
      at.test.clock.advance(-601_000);
    }
  });

  test.each([
    '',
    '?code=alice',
    '?state=short&code=alice',
    '?state=a&state=b',
    '?state=%00&code=%00',
    '?%00=%ff',
    '?error=access_denied',
  ])('a callback that no sign-in led to is refused: %j', async (search) => {
    const browser = new Browser();
    await begin(browser);
    await expectExpired(browser, `${at.test.origin}/app/api/sign-in/callback${search}`);
  });

  test('parameters that come twice are not there', async () => {
    const browser = new Browser();
    const callback = await begin(browser);
    await expectExpired(browser, `${callback}&state=another`);
    const twice = await browser.get(`${callback}&code=another`, json);
    expect(JSON.parse(twice.text).error.reason).toBe('token_invalid');
  });

  test('the cookie is sealed, and lives for 10 minutes', async () => {
    const response = await at.test.as(undefined, '/app/api').get('/sign-in?return_to=/secret-place');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [line] = response.headers.getSetCookie();
    expect(line).toMatch(/^ap_sign_in_[\w-]{8}=v1\.[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const state = new URL(response.headers.get('location')!).searchParams.get('state')!;
    expect(line).toContain(`ap_sign_in_${state.slice(0, 8)}=`);
    expect(line).not.toContain(state);
  });
});

describe('return_to', () => {
  const returnsTo = async (path: string): Promise<string | null> => {
    const browser = new Browser();
    return (await browser.get(await begin(browser, path))).headers.get('location');
  };

  test.each([
    ['/', '/'],
    ['/agents/1?tab=a%20b#c', '/agents/1?tab=a%20b#c'],
    ['/a//b', '/a//b'],
    ['/ü?x=ü', '/%C3%BC?x=%C3%BC'],
    [`/${'a'.repeat(1_999)}`, `/${'a'.repeat(1_999)}`],
  ])('a path of ours is kept: %s', async (path, location) => {
    expect(await returnsTo(path)).toBe(location);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/%2e//evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    'evil.example',
    '@evil.example',
    '',
    ' /a',
    '/a\0b',
    '/a\u0085b',
    '/a\\b',
    `/${'a'.repeat(2_000)}`,
    `/${'ü'.repeat(1_000)}`,
  ])('anything else is the start page: %j', async (path) => {
    expect(await returnsTo(path)).toBe('/');
  });

  test('that comes twice is the start page', async () => {
    const page = await new Browser().get(`${at.test.origin}/app/api/sign-in?return_to=/a&return_to=/b`);
    expect(page.status).toBe(303);
  });
});

describe('addresses', () => {
  test('come from PUBLIC_URL, never from Host or a proxy', async () => {
    const port = Number(new URL(at.test.origin).port);
    const { status, headers } = await rawRequest(
      port,
      'GET /app/api/sign-in HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(status).toBe(303);
    expect(JSON.stringify(headers)).not.toContain('evil.example');
    expect(headers.location).toContain(encodeURIComponent(`${at.test.origin}/app/api/sign-in/callback`));
  });

  test('are not under the prefix of a tenant', async () => {
    for (const prefix of ['/acme', '/tenants/acme']) {
      expect((await fetch(`${at.test.origin}${prefix}/app/api/sign-in`, { redirect: 'manual' })).status).toBe(
        404,
      );
    }
  });

  test('are https with an https PUBLIC_URL, where cookies are Secure and of this host only', async () => {
    const secure = await startFixture('postgres', {
      ...idp.env,
      PORT: '0',
      PUBLIC_URL: 'https://agents.example.com',
    });
    try {
      const response = await secure.test.as(undefined, '/app/api').get('/sign-in');
      expect(new URL(response.headers.get('location')!).searchParams.get('redirect_uri')).toBe(
        'https://agents.example.com/app/api/sign-in/callback',
      );
      expect(response.headers.getSetCookie()[0]).toMatch(
        /^__Host-ap_sign_in_[\w-]{8}=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
    } finally {
      await secure.test.stop();
    }
  });

  test('carry the parameters and scopes that are configured', async () => {
    const more = await startFixture('postgres', {
      ...idp.env,
      PORT: '0',
      OIDC_SCOPES: 'openid groups',
      OIDC_PARAMETERS: 'prompt=consent&hd=example.com',
      OIDC_NAME: 'Example ID',
    });
    try {
      const app = more.as(undefined, '/app/api');
      expect((await ok(app.get('/sign-in/options'))).oidc.name).toBe('Example ID');
      const { searchParams } = new URL((await app.get('/sign-in')).headers.get('location')!);
      expect(Object.fromEntries(searchParams)).toMatchObject({
        scope: 'openid groups',
        prompt: 'consent',
        hd: 'example.com',
      });
    } finally {
      await more.test.stop();
    }
  });
});

describe('a failure', () => {
  test('is a page that shows nothing of the request and runs nothing', async () => {
    const evil = '<script>alert(1)</script>';
    const search = new URLSearchParams({
      state: evil,
      code: evil,
      error: evil,
      error_description: evil,
      iss: evil,
    });
    const page = await new Browser().get(
      `${at.test.origin}/app/api/sign-in/callback?${search}&${evil}=${evil}`,
    );
    expect(page.status).toBe(400);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline';/,
    );
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).not.toMatch(/script|alert/i);
    expect(page.text).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/);
    expect(page.text).toContain('<a href="/app/api/sign-in">Try again</a>');
  });

  test('of the bucket of an address is a page too', async () => {
    const flooded = await startFixture('postgres', { ...idp.env, PORT: '0' });
    try {
      const app = flooded.test.as(undefined, '/app/api');
      const flood = () => Promise.all(Array.from({ length: 300 }, () => app.get('/sign-in/callback')));
      // A bucket refills while a slow machine sends.
      await until(async () => new Set((await flood()).map(({ status }) => status)).has(429), 20_000);
      const pages = await Promise.all(Array.from({ length: 100 }, () => app.get('/sign-in')));
      const last = pages.find(({ status }) => status === 429)!;
      expect(last.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
      const errors = await Promise.all(
        Array.from({ length: 100 }, () => app.get('/sign-in', { headers: json })),
      );
      expect(errors.find(({ status }) => status === 429)!.body.error.code).toBe('too_many_requests');
    } finally {
      await flooded.test.stop();
    }
  });
});

describe('two replicas', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas(
    (...replicas) => {
      [a, b] = replicas;
    },
    async () => ({ ...idp.env, PORT: '0' }),
  );

  test('a sign-in that began on one ends on the other, and works once over both', async () => {
    await query(
      a,
      sql`insert into role_mappings (id, claim, value, role) values (${newId()}, 'sub', 'alice', 'member')`,
    );
    const browser = new Browser();
    const callback = new URL(await passProvider(browser, await startSignIn(browser, a.test.origin), 'alice'));
    const cookie = browser.cookiesFor(a.test.origin)!;
    const open = (fixture: Fixture) =>
      new Browser().get(`${fixture.test.origin}${callback.pathname}${callback.search}`, { cookie });
    const pages = await Promise.all([open(b), open(a), open(b), open(a)]);
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
  });
});

describe('a provider that is away', () => {
  test('and hangs delays neither the start nor the stop', async () => {
    await using hanging = await startForgingProvider();
    hanging.script.replies.discovery = 'hang';
    const platform = await startFixture('postgres', hanging.env);
    await until(() => hanging.count('discovery') === 1);
    const refused = await platform.as(undefined, '/app/api').get('/sign-in', { headers: json });
    expect(refused.status).toBe(503);
    const began = performance.now();
    await platform.test.stop();
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test('stops no start and no key; sign-in is back when the provider is', async () => {
    await using away = await startForgingProvider();
    await away.stopListening();
    const platform = await startFixture('postgres', away.env);
    try {
      const app = platform.as(undefined, '/app/api');
      const refused = await app.get('/sign-in', { headers: json });
      expect(refused.status).toBe(503);
      expect(refused.body.error).toMatchObject({
        code: 'service_unavailable',
        reason: 'provider_unavailable',
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await ok(app.get('/sign-in/options'))).oidc.ready).toBe(false);
      await ok(platform.api.get('/agents'));
      await away.listen();
      await until(async () => (await app.get('/sign-in', { headers: json })).status === 303, 10_000, 100);
      expect((await ok(app.get('/sign-in/options'))).oidc.ready).toBe(true);
      // What it said before holds while it is away again.
      await away.stopListening();
      expect((await app.get('/sign-in', { headers: json })).status).toBe(303);
      await away.listen();
    } finally {
      await platform.test.stop();
    }
  });

  test('leaves those who are signed in alone', async () => {
    const { cookie } = await signIn(at.test, 'alice');
    idp.script.replies.token = { status: 503, body: '' };
    const me = await fetch(`${at.test.origin}/app/api/me`, { headers: { cookie: cookie! } });
    expect(me.status).toBe(200);
  });
});
