import { request } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type ServedRoutes, serveRoutes } from '../../tests/harness/api.ts';
import { client } from '../../tests/harness/http.ts';
import { until } from '../../tests/harness/wait.ts';
import { offlineDatabase } from '../database/index.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import { jsonRoute } from './json-route.ts';
import type { Route } from './route.ts';
import { signInRoute } from './sign-in-route.ts';
import { streamRoute } from './stream-route.ts';

let served: ServedRoutes | undefined;
afterEach(() => {
  vi.useRealTimers();
  return served?.close();
});

const serve = async (...routes: Route[]) => {
  served = await serveRoutes(offlineDatabase, { routes });
  return served;
};

/** A client of the application without a key. */
const stranger = ({ origin }: ServedRoutes) => client(`${origin}/app/api`);

const base = { role: 'member', scope: null, summary: 's' } as const;

test('a form is read field by field, and refused if it has a field twice or another type', async () => {
  const app = stranger(
    await serve(
      signInRoute({
        summary: 's',
        id: 'form',
        request: 'POST /form',
        body: { schema: z.object({ token: z.string() }), largest: 1_000, form: true },
        response: z.object({ token: z.string() }),
        handler: async ({ body }) => body,
      }),
    ),
  );
  const send = (body: string, type = 'application/x-www-form-urlencoded; charset=utf-8') =>
    app.raw('POST', '/form', body, { headers: { 'content-type': type } });
  expect((await send('token=a%20b+c%C3%A9&more=1')).body).toEqual({ token: 'a b cé' });
  for (const [body, type] of [
    ['token=a&token=b'],
    ['more=1'],
    [''],
    ['{"token":"a"}', 'application/json'],
  ] as const) {
    expect((await send(body, type)).status).toBe(400);
  }
});

test('nothing stores a response that says who has access; others are stored for their caller alone', async () => {
  const get = (path: string, noStore?: boolean) =>
    jsonRoute({
      ...base,
      id: path,
      request: `GET /${path}`,
      ...(noStore ? { cache: 'never' as const } : {}),
      response: z.object({}),
      handler: async () => ({}),
    });
  const { v2, withoutKey } = await serve(get('keys', true), get('agents'));
  const cache = async (path: string, client = v2) => (await client.get(path)).headers.get('cache-control');
  expect(await cache('/keys')).toBe('no-store');
  expect(await cache('/keys', withoutKey)).toBe('no-store');
  expect(await cache('/agents')).toBe('private, no-cache');
  expect(await cache('/agents', withoutKey)).toBe('private, no-cache');
});

test('a failure is a page with its error_id for a browser, and the error body for a client that accepts JSON', async () => {
  const app = stranger(
    await serve(
      signInRoute({
        summary: 's',
        id: 'page',
        request: 'GET /page',
        failurePage: ({ status, errorId, message, context }) =>
          `<p>${status} ${errorId} ${message} ${context.reason}`,
        handler: async () => {
          throw new ApiError('forbidden', 'No.', { reason: 'no_role' });
        },
      }),
    ),
  );
  const page = await app.get('/page', { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
  expect(page.text).toMatch(/^<p>403 [0-9a-f-]{36} No\. no_role$/);
  const json = await app.get('/page', { headers: { accept: 'application/json' } });
  expect(json.body.error).toMatchObject({ code: 'forbidden', reason: 'no_role' });
});

test('a redirect has no body and its headers', async () => {
  const app = stranger(
    await serve(
      signInRoute({
        summary: 's',
        id: 'redirect',
        request: 'GET /redirect',
        failurePage: () => '',
        handler: async ({ header }) => {
          header('location', '/there');
          header('set-cookie', ['a=1', 'b=2']);
        },
      }),
    ),
  );
  const { status, headers, text } = await app.get('/redirect');
  expect([status, headers.get('location'), headers.getSetCookie(), text]).toEqual([
    303,
    '/there',
    ['a=1', 'b=2'],
    '',
  ]);
});

test('a stream arrives piece by piece, and closes its source when the client leaves', async () => {
  let closed = false;
  async function* lines() {
    try {
      for (let i = 0; ; i++) {
        yield `${i}\n`;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      closed = true;
    }
  }
  const { origin } = await serve(
    streamRoute({
      ...base,
      id: 'stream',
      request: 'GET /stream',
      type: 'application/x-ndjson',
      handler: async () => lines(),
    }),
  );
  const received: string[] = [];
  const sent = request(
    `${origin}/api/v2/stream`,
    { headers: { authorization: 'Bearer tester' } },
    (response) => {
      expect(response.headers['content-type']).toBe('application/x-ndjson');
      response.on('data', (chunk) => received.push(String(chunk)));
      response.on('error', () => {});
    },
  );
  sent.on('error', () => {});
  sent.end();
  await until(() => received.length > 3);
  expect(received[0]).toBe('0\n');
  expect(closed).toBe(false);
  sent.destroy();
  await until(() => closed);
});

test('a conditional response has an ETag of its content, and is 304 without a body for a client that has it', async () => {
  let content = { now: 1, items: ['a'] };
  const response = z.object({ now: z.int(), items: z.array(z.string()) });
  const { v2 } = await serve(
    jsonRoute({
      ...base,
      id: 'list',
      request: 'GET /list',
      cache: ({ items }) => items,
      response,
      handler: async () => content,
    }),
    jsonRoute({
      ...base,
      id: 'whole',
      request: 'GET /whole',
      cache: 'content',
      response,
      handler: async () => content,
    }),
  );
  const get = (path: string, tag?: string) =>
    v2.get(path, tag === undefined ? {} : { headers: { 'if-none-match': tag } });
  const first = await get('/list');
  const tag = first.headers.get('etag')!;
  expect([first.status, first.body]).toEqual([200, content]);
  expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/);
  const whole = (await get('/whole')).headers.get('etag')!;
  content = { now: 2, items: ['a'] };
  for (const named of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
    const again = await get('/list', named);
    expect([again.status, again.text, again.headers.get('etag')], named).toEqual([304, '', tag]);
  }
  expect((await get('/whole', whole)).status).toBe(200);
  expect((await get('/list', '"x"')).status).toBe(200);
  content = { now: 2, items: ['b'] };
  const changed = await get('/list', tag);
  expect([changed.status, changed.body]).toEqual([200, content]);
});

test('only the application gets long answers compressed, if it takes them', async () => {
  const list = (base_: 'app' | 'v2', length: number) =>
    jsonRoute({
      ...base,
      id: `${base_}${length}`,
      base: base_,
      request: `GET /of${length}`,
      response: z.object({ text: z.string() }),
      handler: async () => ({ text: 'a'.repeat(length) }),
    });
  const { v2, origin } = await serve(list('app', 20_000), list('app', 10_000), list('v2', 20_000));
  const app = client(`${origin}/app/api`, 'tester');
  for (const [of, path, accepted, encoding] of [
    [app, '/of20000', 'gzip, br', 'gzip'],
    [app, '/of20000', 'gzip;q=0, br', null],
    [app, '/of10000', 'gzip', null],
    [v2, '/of20000', 'gzip', null],
  ] as const) {
    const { status, headers, body } = await of.get(path, { headers: { 'accept-encoding': accepted } });
    expect([status, headers.get('content-encoding')], `${path} ${accepted}`).toEqual([200, encoding]);
    expect(body.text).toHaveLength(Number(path.slice(3)));
  }
});

test('a request that waits ends with the refusal when its caller loses access', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let gone = false;
  let waiting = false;
  const { v2 } = await serve(
    jsonRoute({
      ...base,
      id: 'wait',
      request: 'GET /wait',
      find: async () => {
        if (gone) throw notFound('agent');
      },
      response: z.object({ secret: z.string() }),
      handler: async ({ signal }) => {
        waiting = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { secret: 'what it waited for' };
      },
    }),
  );
  const response = v2.get('/wait');
  await until(() => waiting);
  await vi.advanceTimersByTimeAsync(5_000);
  gone = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await response).status).toBe(404);
  expect(vi.getTimerCount()).toBe(0);
});
