import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { Browser, type Page } from '../harness/browser.ts';
import { epoch, type ForgingProvider, startForgingProvider } from '../harness/forging-provider.ts';
import { passProvider, startSignIn } from '../harness/sign-in.ts';
import { expectError, type Fixture, ok, query, startFixture } from './fixture.ts';

type Claims = Record<string, unknown>;

/** Who has this value in this claim is a member. */
const mapRole = (fixture: Fixture, claim: string, value: string) =>
  query(
    fixture,
    sql`insert into role_mappings (id, claim, value, role) values (${newId()}, ${claim}, ${value}, 'member')`,
  );

let idp: ForgingProvider;
let at: Fixture;
beforeAll(async () => {
  idp = await startForgingProvider();
  at = await startFixture('postgres', idp.env);
  await mapRole(at, 'team', 'ops');
});
afterAll(async () => {
  await at?.test.stop();
  await idp?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  idp.reset();
  idp.script.claims = (claims) => ({ ...claims, team: 'ops' });
});

/** Signs in as far as the callback, and opens that as a client of JSON. */
const attempt = async (account = 'alice', browser = new Browser()): Promise<Page> => {
  const callback = await passProvider(browser, await startSignIn(browser, at.test.origin), account);
  return browser.get(callback, { accept: 'application/json' });
};

const expectReason = (page: Page, status: number, reason: string, message?: RegExp): void => {
  const body = JSON.parse(page.text);
  if (status === 503) {
    expect(page.status, page.text).toBe(503);
    expect(body.error).toMatchObject({ code: 'service_unavailable', reason });
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
  } else expectError({ ...page, body }, status, message, { reason });
  expect(page.headers.getSetCookie().filter((line) => line.startsWith('ap_session'))).toEqual([]);
  // Cleared in every outcome.
  expect(page.headers.getSetCookie()).toEqual([expect.stringMatching(/^ap_sign_in_[\w-]{8}=; Max-Age=0;/)]);
};

const signed = (sign: NonNullable<ForgingProvider['script']['sign']>) => () => {
  idp.script.sign = sign;
};
const forged = (change: (claims: Claims) => Claims) => () => {
  idp.script.claims = (claims) => change({ ...claims, team: 'ops' });
};

test('an honest response signs in', async () => {
  const page = await attempt();
  expect(page.status, page.text).toBe(303);
  expect(page.headers.get('cache-control')).toBe('no-store');
});

describe('an ID token is refused', () => {
  const hour = 3_600;
  const cases: [string, () => void, reason?: string][] = [
    [
      'without a signature',
      signed((claims) => {
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        return `${part({ alg: 'none' })}.${part(claims)}.`;
      }),
    ],
    ['with a signature of another key', signed((claims) => idp.sign(claims, {}, idp.otherKey.privateKey))],
    [
      'with a key that the provider does not publish',
      signed((claims) => idp.sign(claims, { kid: 'key-2' }, idp.otherKey.privateKey)),
    ],
    [
      'with a key that its own header brings',
      signed((claims) =>
        idp.sign(
          claims,
          { kid: 'x', jwk: idp.otherKey.publicKey, jku: `${idp.issuer}/evil` },
          idp.otherKey.privateKey,
        ),
      ),
    ],
    [
      'signed by HS256 with the public key',
      signed((claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(createSecretKey(Buffer.from(JSON.stringify(idp.publicKey)))),
      ),
    ],
    [
      'signed by HS256 with the secret',
      signed((claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(createSecretKey(Buffer.from('the-client-secret'.padEnd(32, '\0')))),
      ),
    ],
    ['with a critical extension', signed((claims) => idp.sign(claims, { crit: ['exp'], exp: 1 }))],
    [
      'that was changed after it was signed',
      signed(async (claims) => {
        const [header, , signature] = (await idp.sign(claims)).split('.');
        const changed = Buffer.from(JSON.stringify({ ...claims, team: 'admins' })).toString('base64url');
        return `${header}.${changed}.${signature}`;
      }),
    ],
    ['that is none', signed(() => 'e30.e30')],
    [
      'that is not there',
      () => {
        idp.script.tokens = ({ id_token: _none, ...tokens }) => tokens;
      },
    ],
    ['of another issuer', forged((claims) => ({ ...claims, iss: `${idp.issuer}/` }))],
    ['for another client', forged((claims) => ({ ...claims, aud: 'another' }))],
    [
      'for several clients without azp',
      forged((claims) => ({ ...claims, aud: ['agent-platform', 'another'] })),
    ],
    ['with another azp', forged((claims) => ({ ...claims, azp: 'another' }))],
    ['with another nonce', forged((claims) => ({ ...claims, nonce: 'another' }))],
    ['without a nonce', forged(({ nonce: _none, ...claims }) => claims)],
    ['without exp', forged(({ exp: _none, ...claims }) => claims)],
    ['without iat', forged(({ iat: _none, ...claims }) => claims)],
    ['without sub', forged(({ sub: _none, ...claims }) => claims)],
    ['with an empty sub', forged((claims) => ({ ...claims, sub: '' }))],
    ['with a sub of 256 characters', forged((claims) => ({ ...claims, sub: 'x'.repeat(256) }))],
    ['with a sub that is a number', forged((claims) => ({ ...claims, sub: 7 }))],
    ['that has expired', forged((claims) => ({ ...claims, exp: epoch() - 61 })), 'clock_skew'],
    [
      'of an hour ago',
      forged((claims) => ({ ...claims, iat: epoch() - 2 * hour, exp: epoch() - hour })),
      'clock_skew',
    ],
    [
      'of the future',
      forged((claims) => ({ ...claims, iat: epoch() + hour, exp: epoch() + 2 * hour })),
      'clock_skew',
    ],
    ['that is not valid yet', forged((claims) => ({ ...claims, nbf: epoch() + hour })), 'clock_skew'],
  ];
  test.each(cases)('%s', async (_name, forge, reason = 'token_invalid') => {
    forge();
    expectReason(await attempt(), 400, reason);
  });

  test('and the message says by how many seconds the clocks differ', async () => {
    forged((claims) => ({ ...claims, iat: epoch() + 500, exp: epoch() + 900 }))();
    expectReason(await attempt(), 400, 'clock_skew', /differ by (499|500|501) s/);
    forged((claims) => ({ ...claims, iat: epoch() - 7_200, exp: epoch() - 3_600 }))();
    expectReason(await attempt(), 400, 'clock_skew', /differ by 720[01] s/);
  });
});

describe('an ID token is accepted', () => {
  const cases: [string, () => void][] = [
    [
      'within the tolerance of 60 s',
      forged((claims) => ({ ...claims, exp: epoch() - 50, iat: epoch() + 50 })),
    ],
    [
      'for several clients with our azp',
      forged((claims) => ({ ...claims, aud: ['x', 'agent-platform'], azp: 'agent-platform' })),
    ],
    [
      'without a key id, while the provider has one key',
      signed((claims) => idp.sign(claims, { kid: undefined })),
    ],
  ];
  test.each(cases)('%s', async (_name, forge) => {
    forge();
    const page = await attempt();
    expect(page.status, page.text).toBe(303);
  });

  test('of a key that the provider began to use just now, but an unknown key is not looked for again and again', async () => {
    // A platform of its own: the limit is one search a minute.
    await using fresh = await startForgingProvider();
    const platform = await startFixture('postgres', fresh.env);
    try {
      await mapRole(platform, 'sub', 'alice');
      const once = async () => {
        const browser = new Browser();
        return browser.get(
          await passProvider(browser, await startSignIn(browser, platform.test.origin), 'alice'),
        );
      };
      expect((await once()).status).toBe(303);
      fresh.script.keys = [fresh.otherKey.publicKey];
      fresh.script.sign = (claims) => fresh.sign(claims, { kid: 'key-2' }, fresh.otherKey.privateKey);
      expect((await once()).status).toBe(303);
      const read = fresh.count('jwks');
      for (let n = 0; n < 5; n++) {
        fresh.script.sign = (claims) =>
          fresh.sign(claims, { kid: `made-up-${n}` }, fresh.otherKey.privateKey);
        expect((await once()).status).toBe(400);
      }
      expect(fresh.count('jwks')).toBe(read);
    } finally {
      await platform.test.stop();
    }
  });
});

describe('claims', () => {
  const refused: [string, Claims | (() => void)][] = [
    ['with NUL', { nick: 'a\0b' }],
    ['with NUL in a key', { 'a\0b': 1 }],
    ['with half a surrogate pair', { nick: '\ud800' }],
    ['that nest deeper than 20 levels', { deep: JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) }],
    [
      'that nest 100,000 levels deep',
      () => {
        idp.script.replies.userinfo = {
          body: `{"sub":"alice","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
        };
      },
    ],
    ['of more than 64 KB', { big: 'x'.repeat(65_536) }],
    ['of a megabyte', { big: 'x'.repeat(1_048_576) }],
    [
      'with a number that is too large',
      () => {
        idp.script.replies.userinfo = { body: '{"sub":"alice","n":1e999}' };
      },
    ],
  ];
  test.each(refused)('%s are refused, in UserInfo and in the ID token', async (_name, claims) => {
    if (typeof claims === 'function') {
      claims();
      return expectReason(await attempt(), 400, 'token_invalid');
    }
    idp.script.userinfo = claims;
    expectReason(await attempt(), 400, 'token_invalid');
    idp.script.userinfo = {};
    forged((own) => ({ ...own, ...claims }))();
    expectReason(await attempt(), 400, 'token_invalid');
  });

  test('keep the digits of large integers, and the ID token wins over UserInfo', async () => {
    idp.script.replies.userinfo = {
      body: '{"sub":"digits","id":12345678901234567891,"list":[9007199254740993],"name":"From UserInfo","__proto__":{"team":"x"}}',
    };
    forged((claims) => ({ ...claims, name: 'From the token' }))();
    const page = await attempt('digits');
    expect(page.status, page.text).toBe(303);
    const { data } = await ok(at.api.get('/users?subject=digits'));
    const user = await at.api.get(`/users/${data[0].id}`);
    expect(user.text).toContain('"id":12345678901234567891');
    expect(user.text).toContain('"list":[9007199254740993]');
    expect(user.body).toMatchObject({ name: 'From the token', claims: { team: 'ops' } });
    for (const name of ['iss', 'aud', 'exp', 'iat', 'nonce'])
      expect(user.body.claims).not.toHaveProperty(name);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a boolean', true],
    ['a number', 7],
    ['an empty list', []],
    ['an object', { value: 'x' }],
    ['a list of lists', [['x@y.z']]],
    ['a text', 'no address'],
    ['a long text', 'x'.repeat(9_000)],
  ])('of a strange shape do not break a sign-in: %s', async (_name, email) => {
    forged((claims) => ({
      ...claims,
      email,
      email_verified: email,
      name: email,
      sid: email,
      groups: email,
    }))();
    const page = await attempt('strange');
    expect(page.status, page.text).toBe(303);
  });
});

describe('UserInfo', () => {
  test('about another subject is refused', async () => {
    idp.script.userinfo = { sub: 'mallory' };
    expectReason(await attempt(), 400, 'token_invalid');
    idp.script.replies.userinfo = { body: { name: 'nobody' } };
    expectReason(await attempt(), 400, 'token_invalid');
  });

  test.each<[string, (typeof idp.script.replies)['userinfo']]>([
    ['fails', { status: 500, body: 'oops' }],
    [
      'refuses the token',
      { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: {} },
    ],
    ['is limited', { status: 429, body: {} }],
    ['redirects', { status: 302, headers: { location: '/elsewhere' } }],
    ['is HTML', { headers: { 'content-type': 'text/html' }, body: '<h1>Hi</h1>' }],
    ['is a list', { body: [] }],
    ['is empty', { body: '' }],
    ['breaks off', { body: '{"sub":"alice","groups":["a"' }],
    ['never ends', 'endless'],
    ['is not UTF-8', { body: Buffer.from('7b22737562223a22ff227d', 'hex').toString('latin1') }],
    ['is a JWT that no one signed', { headers: { 'content-type': 'application/jwt' }, body: 'e30.e30.' }],
  ])('that %s is no person without groups', async (_name, reply) => {
    idp.script.replies.userinfo = reply;
    const page = await attempt();
    if (_name === 'is not UTF-8') return expect(page.status).not.toBe(303);
    expectReason(page, 503, 'provider_unavailable');
  });

  test('may be a signed JWT', async () => {
    const claims = { iss: idp.issuer, aud: 'agent-platform', sub: 'signed', name: 'From a JWT' };
    idp.script.replies.userinfo = {
      headers: { 'content-type': 'application/jwt; charset=utf-8' },
      body: await idp.sign(claims),
    };
    expect((await attempt('signed')).status).toBe(303);
    idp.script.replies.userinfo = {
      headers: { 'content-type': 'application/jwt' },
      body: await idp.sign({ ...claims, aud: 'another' }),
    };
    expectReason(await attempt('signed'), 503, 'provider_unavailable');
  });
});

describe('the token endpoint', () => {
  type Reply = NonNullable<(typeof idp.script.replies)['token']>;
  test.each<[string, Reply, number, string]>([
    ['rejects the code', { status: 400, body: { error: 'invalid_grant' } }, 400, 'code_rejected'],
    ['rejects the request', { status: 400, body: { error: 'invalid_request' } }, 400, 'code_rejected'],
    ['rejects our secret', { status: 401, body: { error: 'invalid_client' } }, 503, 'client_rejected'],
    [
      'rejects our secret with a challenge',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: { error: 'invalid_client' } },
      503,
      'client_rejected',
    ],
    [
      'rejects our secret with 400',
      { status: 400, body: { error: 'unauthorized_client' } },
      503,
      'client_rejected',
    ],
    ['rejects our secret without a word', { status: 401, body: '' }, 503, 'client_rejected'],
    ['is down', { status: 500, body: 'oops' }, 503, 'provider_unavailable'],
    ['is limited', { status: 429, body: { error: 'slow_down' } }, 503, 'provider_unavailable'],
    [
      'is down for a while',
      { status: 400, body: { error: 'temporarily_unavailable' } },
      503,
      'provider_unavailable',
    ],
    [
      'is HTML',
      { headers: { 'content-type': 'text/html' }, body: '<h1>Hi</h1>' },
      503,
      'provider_unavailable',
    ],
    ['redirects', { status: 307, headers: { location: '/token2' } }, 503, 'provider_unavailable'],
    ['never stops', 'endless', 503, 'provider_unavailable'],
    ['sends nothing', { body: {} }, 400, 'token_invalid'],
  ])('that %s', async (_name, reply, status, reason) => {
    idp.script.replies.token = reply;
    const page = await attempt();
    expectReason(page, status, reason);
    expect(page.text).not.toMatch(/invalid_|secret|unauthorized_client/);
  });

  test('gets the verifier of the challenge, and our secret in a header', async () => {
    const browser = new Browser();
    const url = await startSignIn(browser, at.test.origin);
    await browser.get(await passProvider(browser, url, 'alice'));
    const { fields, headers } = idp.requests.find(({ endpoint }) => endpoint === 'token')!;
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(fields.code_verifier!));
    expect(Buffer.from(digest).toString('base64url')).toBe(url.searchParams.get('code_challenge'));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      response_mode: 'query',
      code_challenge_method: 'S256',
      client_id: 'agent-platform',
      redirect_uri: `${at.test.origin}/app/api/sign-in/callback`,
      scope: 'openid profile email offline_access',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(fields.redirect_uri).toBe(`${at.test.origin}/app/api/sign-in/callback`);
    const secret = Buffer.from(headers.authorization!.replace('Basic ', ''), 'base64').toString();
    expect(decodeURIComponent(secret)).toBe('agent-platform:the-client-secret');
  });
});

describe('the keys', () => {
  test.each<[string, (typeof idp.script.replies)['jwks']]>([
    ['cannot be read', { status: 500, body: '' }],
    ['are HTML', { headers: { 'content-type': 'text/html' }, body: '<h1>Hi</h1>' }],
    ['never end', 'endless'],
  ])('that %s are no reason to believe a token', async (_name, reply) => {
    await using fresh = await startForgingProvider();
    fresh.script.replies.jwks = reply;
    const platform = await startFixture('postgres', fresh.env);
    try {
      const browser = new Browser();
      const callback = await passProvider(browser, await startSignIn(browser, platform.test.origin), 'alice');
      expectReason(await browser.get(callback, { accept: 'application/json' }), 503, 'provider_unavailable');
    } finally {
      await platform.test.stop();
    }
  });
});

describe('the response in the address of the callback', () => {
  const callbackWith = (change: (parameters: Record<string, string>) => Record<string, string>) => {
    idp.script.authorize = change;
    return attempt();
  };

  test.each([
    ['access_denied', 403, 'provider_refused'],
    ['login_required', 403, 'provider_refused'],
    ['consent_required', 403, 'provider_refused'],
    ['interaction_required', 403, 'provider_refused'],
    ['invalid_scope', 403, 'provider_refused'],
    ['temporarily_unavailable', 503, 'provider_unavailable'],
    ['server_error', 503, 'provider_unavailable'],
  ])('%s', async (error, status, reason) => {
    const page = await callbackWith(({ state }) => ({
      state: state!,
      error,
      error_description: 'words of the provider',
    }));
    expectReason(page, status, reason);
    expect(page.text).not.toContain('words of the provider');
    expect(page.text).not.toContain(error);
  });

  test('of another issuer is refused (mix-up), announced or not', async () => {
    expectReason(await callbackWith((p) => ({ ...p, iss: 'https://evil.example' })), 400, 'token_invalid');
    expect(idp.count('token')).toBe(0);
    expect((await callbackWith((p) => ({ ...p, iss: idp.issuer }))).status).toBe(303);
  });

  test('without the issuer is refused where the provider announces that it sends it', async () => {
    await using fresh = await startForgingProvider();
    fresh.script.discovery = (document) => ({
      ...document,
      authorization_response_iss_parameter_supported: true,
    });
    const platform = await startFixture('postgres', fresh.env);
    try {
      const browser = new Browser();
      const callback = await passProvider(browser, await startSignIn(browser, platform.test.origin), 'alice');
      expectReason(await browser.get(callback, { accept: 'application/json' }), 400, 'token_invalid');
      expect(fresh.count('token')).toBe(0);
    } finally {
      await platform.test.stop();
    }
  });

  test('without a code, or with an ID token next to it, is refused', async () => {
    expectReason(await callbackWith(({ state }) => ({ state: state! })), 400, 'token_invalid');
  });
});

describe('after a refused sign-in', () => {
  afterEach(() => idp.reset());

  test('the audit log has those with a valid token only', async () => {
    const entries = async () =>
      (await ok(at.api.get('/audits?action=session.create&outcome=refused&limit=200'))).data as Claims[];
    const before = (await entries()).length;
    idp.script.claims = (claims) => ({ ...claims, nonce: 'another' });
    await attempt('bob');
    idp.script.authorize = ({ state }) => ({ state: state!, error: 'access_denied' });
    await attempt('bob');
    expect((await entries()).length).toBe(before);
    idp.reset();
    idp.script.claims = (claims) => ({ ...claims, name: 'Bob\u0007', email: 'Bob@Example.com' });
    expectReason(await attempt('bob'), 403, 'no_role');
    const [entry] = await entries();
    expect(entry).toMatchObject({
      principal: { kind: 'unknown', id: 'bob', name: 'Bob' },
      outcome: 'refused',
      target_type: 'session',
      details: { issuer: idp.issuer, subject: 'bob', email: 'bob@example.com', reason: 'no_role' },
    });
    expect((await ok(at.api.get('/audits?action=finishSignIn'))).data).toEqual([]);
  });

  test('the metric counts each outcome', async () => {
    const metrics = await (await fetch(`${at.test.origin}/metrics`)).text();
    for (const outcome of [
      'done',
      'token_invalid',
      'clock_skew',
      'no_role',
      'provider_refused',
      'client_rejected',
    ]) {
      expect(metrics).toMatch(new RegExp(`agent_platform_sign_ins_total\\{outcome="${outcome}"\\} \\d`));
    }
  });
});
