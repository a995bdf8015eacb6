import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { expectError, newKey, ok, onPostgres, withPlatform } from './fixture.ts';
import { cookieOf, signIn } from './sessions-fixture.ts';

/** Sends headers as they are; a list is sent as several lines. */
const send = (
  port: number,
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
): Promise<{ status: number; headers: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });

const publicUrl = 'http://console.example:8443';
const sites: Record<string, string | string[] | undefined> = {
  absent: undefined,
  'same-origin': 'same-origin',
  'same-site': 'same-site',
  'cross-site': 'cross-site',
  none: 'none',
  garbage: 'SAME-ORIGIN',
  empty: '',
  twice: ['same-origin', 'same-origin'],
};
const origins: Record<string, ((port: number) => string | string[]) | undefined> = {
  absent: undefined,
  'of the request': (port) => `http://127.0.0.1:${port}`,
  'of PUBLIC_URL': () => publicUrl,
  'of PUBLIC_URL twice': () => [publicUrl, publicUrl],
  foreign: () => 'https://evil.example',
  'of another port': (port) => `http://127.0.0.1:${port + 1}`,
  null: () => 'null',
};
/** The requests, with the status that each has when the cookie counts. */
const requests = [
  ['GET', '/app/api/me', 200],
  ['HEAD', '/app/api/me', 200],
  ['GET', '/api/v2/agents', 200],
  ['GET', '/api/v1/agents', 200],
  ['GET', '/api/v2/nothing', 404],
  ['POST', '/api/v2/agents', 400],
  ['PUT', '/api/v2/llm-configurations/defaults', 400],
  ['PATCH', '/api/v2/branding', 400],
  ['DELETE', '/app/api/sessions/x', 404],
] as const;

const cookieCounts = (method: string, site: string, origin: string): boolean => {
  if (site !== 'absent') return site === 'same-origin' || site === 'none';
  if (origin !== 'absent') return origin === 'of the request' || origin === 'of PUBLIC_URL';
  return method === 'GET' || method === 'HEAD';
};

const crossSiteRequests = async (origin: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(/^agent_platform_cross_site_requests_total (\d+)$/m.exec(text)![1]);
};

describe('the cookie of a session', () => {
  onPostgres(
    (at) => {
      test('counts only in requests of our own pages: every Sec-Fetch-Site with every Origin and method', async () => {
        const { test: platform } = at();
        const { port } = platform.platform;
        const { cookie } = await signIn(at(), adminKey);
        const before = await crossSiteRequests(platform.origin);
        const audits = async () => (await at().sql`select count(*)::int as n from audits`)[0].n;
        const entries = await audits();
        let refused = 0;
        for (const [site, siteValue] of Object.entries(sites)) {
          for (const [origin, originOf] of Object.entries(origins)) {
            for (const [method, path, status] of requests) {
              const headers = {
                cookie,
                ...(siteValue === undefined ? {} : { 'sec-fetch-site': siteValue }),
                ...(originOf === undefined ? {} : { origin: originOf(port) }),
              };
              const got = await send(port, method, path, headers);
              const counts = cookieCounts(method, site, origin);
              if (!counts) refused++;
              const where = `${method} ${path}, Sec-Fetch-Site ${site}, Origin ${origin}`;
              expect(got.status, where).toBe(counts ? status : 403);
              expect(
                Object.keys(got.headers).filter((name) => name.startsWith('access-control')),
                where,
              ).toEqual([]);
            }
          }
        }
        expect(refused).toBeGreaterThan(100);
        expect(await crossSiteRequests(platform.origin)).toBe(before + refused);
        expect(await audits()).toBe(entries);
      });

      test('the refusal is in words', async () => {
        const { cookie } = await signIn(at(), adminKey);
        const headers = { cookie, 'sec-fetch-site': 'cross-site' };
        expectError(
          await at().as(undefined, '/app/api').get('/me', { headers }),
          403,
          /another site.*API key/s,
        );
      });

      test('is not looked at in a request with the header Authorization', async () => {
        const { cookie } = await signIn(at(), adminKey);
        const member = (await newKey(at(), 'member')).value;
        const get = (authorization: string, more: Record<string, string> = {}) =>
          at()
            .as(undefined, '/app/api')
            .get('/me', { headers: { cookie, authorization, ...more } });
        expect((await ok(get(`Bearer ${member}`))).principal.role).toBe('member');
        for (const wrong of ['', 'Bearer', 'Bearer wrong', 'Basic eDp5']) expectError(await get(wrong), 401);
        // Nor does the rule for cookies hold for it.
        await ok(get(`Bearer ${member}`, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }));
      });

      test('that is malformed or unknown is 401', async () => {
        const { cookie } = await signIn(at(), adminKey);
        const value = cookie.split('=')[1]!;
        for (const wrong of [
          '',
          'x',
          value.slice(1),
          `${value}A`,
          `${value.slice(0, -1)}%`,
          `${value}%00`,
          '%E0%A4%A',
          '"',
          '\u00e9'.repeat(43),
          'A'.repeat(43),
          'A'.repeat(4_000),
          value.toLowerCase(),
        ]) {
          const response = await at()
            .as(undefined, '/app/api')
            .get('/me', { headers: { cookie: `ap_session=${wrong}` } });
          expectError(response, 401);
        }
        await ok(
          at()
            .as(undefined, '/app/api')
            .get('/me', { headers: { cookie: `a=b; ${cookie}; ap_session_x=1` } }),
        );
      });

      test('never counts at the trace receiver', async () => {
        const { port } = at().test.platform;
        const { cookie } = await signIn(at(), adminKey);
        for (const path of ['/api/v2/telemetry/v1/traces', '/v1/traces']) {
          for (const site of ['same-origin', 'none', 'cross-site']) {
            const headers = { cookie, 'sec-fetch-site': site, 'content-type': 'application/json' };
            expect((await send(port, 'POST', path, headers)).status).toBe(401);
          }
        }
      });

      test('the sign-in itself is refused from another site, if the browser says so', async () => {
        const post = (headers: Record<string, string>) =>
          at().as(undefined, '/app/api').post('/sessions', { api_key: adminKey }, { headers });
        const own = `http://127.0.0.1:${at().test.platform.port}`;
        const before = await crossSiteRequests(at().test.origin);
        const ours: Record<string, string>[] = [
          {},
          { 'sec-fetch-site': 'none' },
          { origin: own },
          { origin: publicUrl },
        ];
        for (const headers of ours) {
          await ok(post(headers));
        }
        const foreign: Record<string, string>[] = [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site', origin: own },
          { origin: 'https://evil.example' },
          { origin: 'null' },
        ];
        for (const headers of foreign) {
          const response = await post(headers);
          expectError(response, 403, /another site/);
          expect(response.headers.getSetCookie()).toEqual([]);
        }
        // 403 comes before the faults of the body.
        const [headers] = foreign;
        const app = at().as(undefined, '/app/api');
        expectError(await app.post('/sessions', {}, { headers }), 403, /another site/);
        expectError(await app.post('/sessions', { api_key: 5 }, { headers }), 403, /another site/);
        expect(await crossSiteRequests(at().test.origin)).toBe(before + foreign.length + 2);
        const entries = await at().sql`select 1 from audits where action = 'createSession'`;
        expect(entries).toEqual([]);
      });
    },
    { PUBLIC_URL: publicUrl },
  );

  describe('with an http address', () =>
    withPlatform('postgres', (at) => {
      test('is ap_session, without Secure, until the browser ends', async () => {
        const { headers, cookie } = await signIn(at(), adminKey);
        expect(headers.getSetCookie()).toEqual([
          expect.stringMatching(/^ap_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
        ]);
        const hosted = `__Host-${cookie}`;
        expectError(
          await at()
            .as(undefined, '/app/api')
            .get('/me', { headers: { cookie: hosted } }),
          401,
        );
      });
    }));

  describe('with an https address', () =>
    withPlatform(
      'postgres',
      (at) => {
        test('is __Host-ap_session with Secure, and the bare name is not read', async () => {
          const { headers, cookie, page } = await signIn(at(), adminKey);
          expect(headers.getSetCookie()).toEqual([
            expect.stringMatching(
              /^__Host-ap_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
            ),
          ]);
          const bare = cookie.replace('__Host-', '');
          const app = at().as(undefined, '/app/api');
          expectError(await app.get('/me', { headers: { cookie: bare } }), 401);
          // Not even refused: it is as if it were not there.
          expectError(
            await app.get('/me', { headers: { cookie: bare, 'sec-fetch-site': 'cross-site' } }),
            401,
          );
          await ok(page.get('/me', { headers: { cookie: `${bare.slice(0, 20)}; ${cookie}` } }));
          const out = await page.post('/sign-out');
          expect(out.headers.getSetCookie()).toEqual([
            '__Host-ap_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
          ]);
          expect(cookieOf(out.headers)).toBe('__Host-ap_session=');
        });
      },
      { PUBLIC_URL: 'https://console.example' },
    ));
});
