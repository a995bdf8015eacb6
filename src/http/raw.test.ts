import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../tests/harness/wait.ts';
import type { Database } from '../database/index.ts';
import { systemClock } from '../lib/clock.ts';
import { Vault } from '../lib/crypto.ts';
import { ApiError } from '../lib/errors.ts';
import { silentLogger } from '../lib/log.ts';
import type { Principal } from '../lib/principal.ts';
import { TokenBuckets } from './rate-limit.ts';
import type { RawRoute } from './raw.ts';
import { createServer, type Server } from './server.ts';

const principal: Principal = {
  kind: 'service_account',
  id: 'a',
  rootId: 'a',
  name: 'a',
  role: 'member',
  keyId: 'key',
  scopes: null,
  sessionId: null,
};
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server whose raw route returns the body that it received, or throws for the body `defect`. */
const start = async (burst = 1_000) => {
  const reported: { operation: string; status: number }[] = [];
  let arrived = 0;
  const raw: RawRoute = {
    paths: ['/raw'],
    document: { path: '/raw', id: 'raw', role: 'member', scope: 'telemetry', operation: {} },
    handler: async ({ method, body, authenticate }) => {
      try {
        await authenticate();
      } catch (error) {
        const { status, headers } = error as ApiError;
        return { status, headers, body: 'refused' };
      }
      arrived++;
      const received = await text(body);
      if (received === 'defect') throw new Error('a defect');
      return { status: 200, headers: { 'content-type': 'application/own' }, body: `${method} ${received}` };
    },
  };
  server = createServer({
    groups: [{ rawRoutes: [raw] }],
    authenticate: async ({ token }) => {
      if (token === 'good') return principal;
      throw new ApiError('unauthorized', 'no');
    },
    db: {} as Database,
    vault: new Vault([Buffer.alloc(32, 1)]),
    log: silentLogger,
    publicUrl: () => 'http://localhost',
    version: 'test',
    buckets: new TokenBuckets({ ...systemClock, now: () => 1_000_000 }),
    rateLimit: () => ({ perSecond: 10, burst }),
    onResponse: ({ operation, status }) => reported.push({ operation, status }),
    readiness: async () => null,
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  });
  const port = await server.listen(0, '127.0.0.1');
  const post = (path: string, body: string, key = 'good') =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'x-request-id': 'mine', traceparent },
    });
  return { port, reported, arrived: () => arrived, post };
};
/** The fast path, and the router path: `/raw/` is not exactly a path of the list. */
const paths = ['/raw', '/raw/'];

test('the fast path and the router path send the same response', async () => {
  const { post, reported } = await start();
  const responses = [];
  for (const path of paths) {
    const response = await post(path, 'hello');
    const { date: _, ratelimit, ...headers } = Object.fromEntries(response.headers);
    expect(ratelimit).toMatch(/^"default";r=\d+;t=0$/);
    responses.push({ status: response.status, headers, body: await response.text() });
  }
  expect(responses[0]).toEqual(responses[1]);
  expect(responses[0]).toMatchObject({
    status: 200,
    body: 'POST hello',
    headers: { 'content-type': 'application/own', 'x-request-id': 'mine', traceparent },
  });
  expect(reported).toEqual(paths.map(() => ({ operation: 'raw', status: 200 })));
});

test('a body without a length, sent in chunks, is received like any other', async () => {
  const { port } = await start();
  const chunks =
    'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nin \r\n6\r\nchunks\r\n0\r\n\r\n';
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.end(`POST /raw HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n${chunks}`);
  expect(await text(socket)).toContain('POST in chunks');
});

test('raw requests count against the bucket of their key on both paths', async () => {
  const { post } = await start(3);
  const statuses = [];
  for (const path of [...paths, ...paths]) statuses.push((await post(path, '')).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await post('/raw', '')).headers.get('retry-after')).toBe('1');
});

test('a request without a valid key is refused by the route and counts once against its address', async () => {
  const { post } = await start();
  for (let i = 0; i < 200; i++) expect((await post('/raw', '', 'bad')).status).toBe(401);
  const throttled = await post('/raw', '', 'bad');
  expect([throttled.status, await throttled.text()]).toEqual([429, 'refused']);
  expect((await post('/raw', '')).status).toBe(200);
});

test('a defect is a 500 without its message, and is reported', async () => {
  const { post, reported } = await start();
  for (const path of paths) {
    const response = await post(path, 'defect');
    expect(response.status).toBe(500);
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({ code: 'internal_error', message: expect.not.stringMatching(/a defect/) });
  }
  expect(reported.map(({ status }) => status)).toEqual([500, 500]);
});

test('pipelined requests get their responses in order; two Host headers are a 400', async () => {
  const { port } = await start();
  const request = (body: string, host = 'Host: a') =>
    `POST /raw HTTP/1.1\r\n${host}\r\nAuthorization: Bearer good\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const exchange = async (sent: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.end(sent);
    return text(socket);
  };
  const responses = await exchange(request('one') + request('two') + request('three'));
  expect(responses.match(/POST (one|two|three)/g)).toEqual(['POST one', 'POST two', 'POST three']);
  expect(await exchange(request('one', 'Host: a\r\nHost: b'))).toMatch(/^HTTP\/1\.1 400 /);
});

test('a request on an open connection while the server closes gets its response, and is the last one there', async () => {
  const { port, arrived } = await start();
  const head = 'POST /raw HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Length: ';
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(`${head}5\r\n\r\nfir`);
  await until(() => arrived() === 1);
  const closed = server!.close();
  const refused = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => false,
      () => true,
    );
  await until(refused);
  socket.write(`st${head}6\r\n\r\nsecond`);
  const responses = await text(socket);
  await closed;
  expect(responses.match(/HTTP\/1\.1 \d+|POST (first|second)/g)).toEqual([
    'HTTP/1.1 200',
    'POST first',
    'HTTP/1.1 200',
    'POST second',
  ]);
  expect(responses).toMatch(/connection: close/i);
});
