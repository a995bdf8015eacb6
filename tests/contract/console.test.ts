import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { offlineDatabase } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type ServedRoutes, serveRoutes } from '../harness/api.ts';
import { client, rawRequest } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { expectError, ok, withPlatform } from './fixture.ts';
import { signIn } from './sessions-fixture.ts';

const script = `console.log(${JSON.stringify('a script '.repeat(200))});\n`;
const icon = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const indexHtml = `<!doctype html>
<meta name="csp-nonce" content="__CSP_NONCE__">
<head><style nonce="__CSP_NONCE__">p { margin: 0 }</style></head>
<script type="module" src="/assets/app-B7x.js"></script>
`;
const navigation = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
};

/** A build of the application with one script, in a folder of its own. */
const makeBuild = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-console-'));
  const dist = join(folder, 'dist');
  await mkdir(join(dist, 'assets'), { recursive: true });
  await mkdir(join(dist, '.vite'));
  for (const [name, content] of Object.entries({
    '../outside.txt': 'outside',
    'index.html': indexHtml,
    '.built': 'hash',
    '.vite/manifest.json': '{}',
    '.vite/pages.json': JSON.stringify([
      { path: '/work-items/$workItemId', files: ['/assets/one.js'] },
      { path: '/work-items/new', files: ['/assets/new.js', '/assets/new.css'] },
      { path: '/', files: ['/assets/overview.js'] },
    ]),
    'robots.txt': 'User-agent: *',
    'assets/app-B7x.js': script,
    'assets/app-B7x.js.br': brotliCompressSync(script),
    'assets/app-B7x.js.gz': gzipSync(script),
    'assets/icon-C1.svg': icon,
    'assets/font-D2.woff2': Buffer.from([0x77, 0x4f, 0x46, 0x32]),
  })) {
    await writeFile(join(dist, name), content);
  }
  return folder;
};

describe('the application', () => {
  let folder: string;
  let served: ServedRoutes;
  let emptyFolder: ServedRoutes;
  const serve = async (dist: string): Promise<ServedRoutes> => {
    const feature = createConsole({ log: silentLogger }, { folder: dist });
    await feature.start?.();
    return serveRoutes(offlineDatabase, feature);
  };
  beforeAll(async () => {
    folder = await makeBuild();
    served = await serve(join(folder, 'dist'));
    emptyFolder = await serve(join(folder, 'nothing'));
  });
  afterAll(async () => {
    await served?.close();
    await emptyFolder?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const get = (path: string, headers: Record<string, string> = navigation) =>
    client(served.origin).get(path, { headers });
  const port = () => Number(new URL(served.origin).port);
  /** The bytes of a response, which `fetch` would decompress. */
  const sent = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return rawRequest(port(), `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`);
  };

  const policy = (style: string): string =>
    `default-src 'none'; script-src 'self'; style-src ${style}; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
  const expectSecurityHeaders = (headers: Headers): void => {
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringMatching(/^(?=.*\bcamera=\(\))[a-z-]+=\(\)(, [a-z-]+=\(\))+$/),
    });
  };

  const deep = '/agents/01980000/schedules/0198?at=2026-11-22T02:30:00Z';
  test.each(['/', '/?tab=x', '/schedules', deep, '/a/b/'])(
    'GET %s is index.html, with a new nonce in the policy and in the page',
    async (path) => {
      const nonces = new Set<string>();
      for (let i = 0; i < 3; i++) {
        const { status, headers, text } = await get(path);
        expect(status).toBe(200);
        expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('etag')).toBeNull();
        expectSecurityHeaders(headers);
        const nonce = /<meta name="csp-nonce" content="([A-Za-z0-9+/]{22}==)">/.exec(text)![1]!;
        expect(text.replace(/<link[^>]*>/, '')).toBe(indexHtml.replaceAll('__CSP_NONCE__', nonce));
        expect(headers.get('content-security-policy')).toBe(policy(`'self' 'nonce-${nonce}'`));
        nonces.add(nonce);
      }
      expect(nonces.size).toBe(3);
    },
  );

  test.each([
    ['/work-items/0198', '<link rel="modulepreload" crossorigin href="/assets/one.js">'],
    [
      '/work-items/new/?agent=1',
      '<link rel="modulepreload" crossorigin href="/assets/new.js"><link rel="stylesheet" crossorigin href="/assets/new.css">',
    ],
    ['/work-items/', ''],
    ['/work-items/0198/more', ''],
  ])('GET %s names what its page loads', async (path, tags) => {
    const { text } = await get(path);
    expect(/<\/style>(.*)<\/head>/.exec(text)![1]).toBe(tags);
  });

  test('an asset is immutable, and sent in the smallest encoding that the client takes', async () => {
    const path = '/assets/app-B7x.js';
    const { status, headers, text } = await get(path);
    expect([status, text]).toEqual([200, script]);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('vary')).toBe('accept-encoding');
    expect(headers.get('content-security-policy')).toBe(policy(`'self'`));
    expectSecurityHeaders(headers);

    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['BR', 'br'],
      ['gzip', 'gzip'],
      ['gzip;q=1, br;q=0.2', 'gzip'],
      ['br;q=0, *', 'gzip'],
      ['*', 'br'],
      ['gzip;q=0', undefined],
      ['identity', undefined],
      ['deflate', undefined],
      ['', undefined],
    ] as const) {
      const response = await sent(path, { 'accept-encoding': accepted });
      expect(response.headers['content-encoding'], accepted).toBe(encoding);
      const body = Buffer.from(response.text, 'latin1');
      const decode = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes };
      expect(decode[encoding ?? 'none'](body).toString(), accepted).toBe(script);
      expect(response.headers['content-length']).toBe(String(body.length));
    }
    expect((await sent(path, {})).headers['content-encoding']).toBeUndefined();
  });

  test('files have their types, and a file without a hash in its name is asked for again', async () => {
    for (const [path, type, cache] of [
      ['/assets/icon-C1.svg', 'image/svg+xml; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/assets/font-D2.woff2', 'font/woff2', 'public, max-age=31536000, immutable'],
      ['/robots.txt', 'text/plain; charset=utf-8', 'no-cache'],
    ] as const) {
      const { status, headers } = await get(path, { accept: '*/*' });
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, cache]);
      expectSecurityHeaders(headers);
    }
  });

  test('a client that has the file gets 304, for the encoding that it has', async () => {
    const path = '/assets/app-B7x.js';
    const etags = new Map<string, string>();
    for (const encoding of ['br', 'gzip', 'identity']) {
      etags.set(encoding, (await sent(path, { 'accept-encoding': encoding })).headers.etag!);
    }
    expect(new Set(etags.values()).size).toBe(3);
    const again = (etag: string) => sent(path, { 'accept-encoding': 'gzip', 'if-none-match': etag });
    for (const etag of [etags.get('gzip')!, `W/${etags.get('gzip')}`, `"x", ${etags.get('gzip')}`, '*']) {
      const { status, text, headers } = await again(etag);
      expect([status, text, headers.etag]).toEqual([304, '', etags.get('gzip')]);
      expect(headers['cache-control']).toContain('immutable');
    }
    for (const etag of [etags.get('br')!, '"x"', 'x']) expect((await again(etag)).status).toBe(200);
  });

  test('HEAD is GET without the body', async () => {
    for (const path of ['/', '/schedules', '/assets/app-B7x.js']) {
      const close = { ...navigation, connection: 'close' };
      const [head, got] = [await sent(path, close, 'HEAD'), await sent(path, close)];
      expect([head.status, head.text]).toEqual([200, '']);
      for (const name of ['content-length', 'content-type', 'content-security-policy']) {
        const [a, b] = [head, got].map(({ headers }) => headers[name]?.replace(/nonce-[^']+/, ''));
        expect(a, name).toBe(b);
      }
    }
    const closing = { ...navigation, connection: 'close' };
    expect((await sent('/assets/nothing.js', closing, 'HEAD')).status).toBe(404);
  });

  test.each(['nothing.js', '', 'app-B7x.js.br', 'app-B7x.js.gz', 'x/y'])(
    'the unknown asset /assets/%s is 404 in the error body, for browsers too',
    async (name) => {
      // `/assets/` is `/assets`, because slashes at the end do not count.
      if (name !== '') expectError(await get(`/assets/${name}`), 404);
      expectError(await get(`/assets/${name}`, { accept: '*/*' }), 404);
    },
  );

  test('only browsers get index.html for an unknown path, and at / everybody who takes a page', async () => {
    for (const [path, status, accepted] of [
      ['/schedules', 404, ['*/*', 'application/json', 'text/*', 'image/png', 'text/htmlx', 'text/html;q=0']],
      ['/schedules', 200, ['text/html', 'TEXT/HTML', 'text/html;level=1', 'image/png, text/html; q=0.1']],
      ['/', 200, ['*/*', 'text/*', 'text/html']],
      ['/', 404, ['application/json', 'text/html;q=0, */*']],
    ] as const) {
      for (const accept of accepted) {
        const response = await get(path, { accept });
        expect(response.status, `${path} ${accept}`).toBe(status);
        if (status === 404) expectError(response, 404);
      }
    }
    expect((await sent('/', {})).status).toBe(200);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 404 everywhere', async (method) => {
    for (const path of ['/', '/schedules', '/assets/app-B7x.js']) {
      expectError(await client(served.origin).raw(method, path, undefined, { headers: navigation }), 404);
    }
  });

  // Ways up, in every encoding; bytes that are no text; addresses of another site; and what is next to the pages.
  const hostile = [
    '/../outside.txt /assets/../../outside.txt /assets/..%2f..%2foutside.txt /assets%2f..%2f..%2foutside.txt',
    '/%2e%2e/outside.txt /assets/%2e%2e/%2e%2e/outside.txt /assets/..\\..\\outside.txt',
    '/assets/app-B7x.js%00.txt /assets/%00 /%00 /% /assets/%zz /assets/%c0%ae%c0%ae/outside.txt',
    '//outside.txt //evil.example/x /.built /.vite/manifest.json /assets/../.built /__proto__ /constructor',
    `/${'a'.repeat(12_000)} /assets/${'../'.repeat(3_000)}outside.txt`,
  ];
  test.each(hostile.flatMap((paths) => paths.split(' ')).map((path) => [path.slice(0, 40), path]))(
    'the path %s reveals no other file',
    async (_, path) => {
      for (const accept of ['*/*', 'text/html']) {
        const { status, text, headers } = await sent(path, { accept });
        expect([200, 404]).toContain(status);
        expect(text).not.toMatch(/outside$|^hash|^\{\}/);
        if (status === 200)
          expect([accept, headers['content-type']]).toEqual(['text/html', 'text/html; charset=utf-8']);
        // A router would take it for the address of another site.
        if (path.startsWith('//')) expect(status).toBe(404);
      }
    },
  );

  test('a path that is longer than any server reads is refused', async () => {
    const { status, headers } = await sent(`/${'a'.repeat(100_000)}`, navigation);
    expect([status, headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
  });

  test('without a build, pages name the command, and assets are unknown', async () => {
    const { get: getEmpty } = client(emptyFolder.origin);
    for (const path of ['/', '/schedules']) {
      const { status, headers, text } = await getEmpty(path, { headers: navigation });
      expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(text).toContain('npm run console');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe(policy(`'self'`));
      expectSecurityHeaders(headers);
    }
    expectError(await getEmpty('/assets/app-B7x.js', { headers: navigation }), 404);
    expectError(await getEmpty('/schedules', { headers: { accept: '*/*' } }), 404);
  });

  describe('next to the API', () =>
    withPlatform('postgres', (at) => {
      const send = (method: string, path: string, key?: string) =>
        at().test.as(key, '').raw(method, path, undefined, { headers: navigation });

      test.each(['/api/v2/nothing', '/app/api/nothing', '/acme/api/v2/nothing', '/api/v2/%zz'])(
        'a browser at %s is 401 without a key, else 404',
        async (path) => {
          expectError(await send('GET', path), 401);
          expectError(await send('GET', path, adminKey), 404);
        },
      );

      test.each(['/healthz/x', '/readyz/x', '/metrics/x', '/v1/traces/x'])(
        'a browser at %s is 404',
        async (path) => {
          expectError(await send('GET', path), 404);
        },
      );

      test('routes are what they were', async () => {
        for (const path of ['/api/v2', '/app/api', '/healthz', '/readyz', '/app/api/branding']) {
          const { status, headers } = await send('GET', path);
          expect(status, path).toBe(200);
          expect(headers.get('content-type'), path).toBe('application/json; charset=utf-8');
        }
        expect((await send('GET', '/metrics')).text).toContain('agent_platform_http_request_duration');
        expect((await send('GET', '/v1/traces')).status).toBe(401);
        expectError(await send('GET', '/app/api/me'), 401);
      });
    }));

  describe('who is signed in stands in the page', () =>
    withPlatform('embedded', (at) => {
      const meIn = async (headers: Record<string, string>, path = '/agents') => {
        const { status, text } = await client(at().test.origin).get(path, {
          headers: { ...navigation, ...headers },
        });
        expect(status).toBe(200);
        const content = /<meta name="me" content="([^"]*)"/.exec(text)![1]!;
        const json = content.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
        return json === '' ? null : JSON.parse(json);
      };

      test('for a session, as GET /me says it, and inert', async () => {
        await ok(at().api.patch('/branding', { workspace_name: '</script><b>$&__ME__' }));
        const cookie = (await signIn(at(), adminKey)).cookie;
        for (const site of ['none', 'same-origin']) {
          const me = await meIn({ cookie, 'sec-fetch-site': site });
          const asked = await client(at().test.origin).get('/app/api/me', { headers: { cookie } });
          expect({ ...me, session: null }).toEqual({ ...asked.body, session: null });
          expect(me.branding.workspace_name).toBe('</script><b>$&__ME__');
        }
      });

      test('and with it what the page reads first, of which other addresses and callers are told nothing', async () => {
        const cookie = (await signIn(at(), adminKey)).cookie;
        const readsIn = async (path: string, headers: Record<string, string>) => {
          const { text } = await client(at().test.origin).get(path, {
            headers: { ...navigation, ...headers },
          });
          return [...text.matchAll(/<link rel="preload" as="fetch" crossorigin href="([^"]*)">/g)].map(
            ([, address]) => address,
          );
        };
        expect(await readsIn('/', { cookie })).toEqual(['/app/api/overview?hours=24']);
        expect(await readsIn('/agents/0198', { cookie })).toEqual([
          '/app/api/agents/0198/overview',
          '/api/v2/agents/0198',
        ]);
        for (const path of ['/schedules?state=paused', '/agents/a%22b', '/agents/new'])
          expect(await readsIn(path, { cookie }), path).toEqual([]);
        expect(await readsIn('/', {})).toEqual([]);
      });

      test('in the approval page only the name and the role, and no large logo', async () => {
        const cookie = (await signIn(at(), adminKey)).cookie;
        const asked = await client(at().test.origin).get('/app/api/me', { headers: { cookie } });
        const { id, name, role } = asked.body.principal;
        const me = await meIn({ cookie }, '/approve/0199');
        expect(me).toEqual({ principal: { id, name, role }, branding: asked.body.branding });
        expect(await meIn({}, '/approve/0199')).toBeNull();
        const page = await client(at().test.origin).get('/approve/0199/', { headers: { accept: '*/*' } });
        expect(page.text).toContain('<title>Approval');
        expect(page.headers.get('content-security-policy')).toBe(policy(`'self'`));
        for (const path of ['/approve', '/approve/0199/more']) {
          const { text } = await client(at().test.origin).get(path, { headers: navigation });
          expect(text).not.toContain('<title>Approval');
        }
      });

      test('not for another site, an ended session, a key or no one', async () => {
        const cookie = (await signIn(at(), adminKey)).cookie;
        expect(await meIn({ cookie, 'sec-fetch-site': 'cross-site' })).toBeNull();
        expect(await meIn({ cookie: 'ap_session=of-no-one' })).toBeNull();
        expect(await meIn({ authorization: `Bearer ${adminKey}` })).toBeNull();
        expect(await meIn({})).toBeNull();
      });
    }));

  describe('on a replica without the role api', () =>
    withPlatform(
      'embedded',
      (at) => {
        test('there is no application', async () => {
          for (const path of ['/', '/schedules']) {
            expectError(await at().test.as(undefined, '').get(path, { headers: navigation }), 404);
          }
          expect((await at().test.as(undefined, '').get('/healthz')).status).toBe(200);
        });
      },
      { ROLES: 'scheduler,worker,delivery' },
    ));
});
