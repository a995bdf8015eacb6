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

const principal: Principal = { kind: 'service_account', id: 'a', name: 'a', role: 'member', keyId: 'key' };
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server whose raw route answers with what came, or throws for the body `defect`. */
const start = async (burst = 1_000) => {
  const answered: { operation: string; status: number }[] = [];
  let arrived = 0;
  const raw: RawRoute = {
    paths: ['/raw'],
    document: { path: '/raw', id: 'raw', role: 'member', operation: {} },
    handler: async ({ method, body, authenticate }) => {
      try {
        await authenticate();
      } catch (error) {
        const { status, headers } = error as ApiError;
        return { status, headers, body: 'refused' };
      }
      arrived++;
      const came = await text(body);
      if (came === 'defect') throw new Error('a defect');
      return { status: 200, headers: { 'content-type': 'application/own' }, body: `${method} ${came}` };
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
    onResponse: ({ operation, status }) => answered.push({ operation, status }),
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
  return { port, answered, arrived: () => arrived, post };
};
/** `/raw/` is no path as it is written in the list: it takes the long way. */
const ways = ['/raw', '/raw/'];

test('a raw request is answered alike on the short way and on the long one', async () => {
  const { post, answered } = await start();
  const answers = [];
  for (const path of ways) {
    const answer = await post(path, 'hello');
    const { date: _, ratelimit, ...headers } = Object.fromEntries(answer.headers);
    expect(ratelimit).toMatch(/^"default";r=\d+;t=0$/);
    answers.push({ status: answer.status, headers, body: await answer.text() });
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject({
    status: 200,
    body: 'POST hello',
    headers: { 'content-type': 'application/own', 'x-request-id': 'mine', traceparent },
  });
  expect(answered).toEqual(ways.map(() => ({ operation: 'raw', status: 200 })));
});

test('a body without a length, sent in chunks, is taken like any other', async () => {
  const { port } = await start();
  const chunks =
    'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nin \r\n6\r\nchunks\r\n0\r\n\r\n';
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.end(`POST /raw HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n${chunks}`);
  expect(await text(socket)).toContain('POST in chunks');
});

test('the bucket of the key is for raw requests too, whichever way they take', async () => {
  const { post } = await start(3);
  const statuses = [];
  for (const path of [...ways, ...ways]) statuses.push((await post(path, '')).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await post('/raw', '')).headers.get('retry-after')).toBe('1');
});

test('a request without a valid key is refused by the route, and counts once against its address', async () => {
  const { post } = await start();
  for (let i = 0; i < 200; i++) expect((await post('/raw', '', 'bad')).status).toBe(401);
  const throttled = await post('/raw', '', 'bad');
  expect([throttled.status, await throttled.text()]).toEqual([429, 'refused']);
  expect((await post('/raw', '')).status).toBe(200);
});

test('a defect is a 500 that says nothing of it, and is counted', async () => {
  const { post, answered } = await start();
  for (const path of ways) {
    const answer = await post(path, 'defect');
    expect(answer.status).toBe(500);
    const { error } = (await answer.json()) as { error: object };
    expect(error).toMatchObject({ code: 'internal_error', message: expect.not.stringMatching(/a defect/) });
  }
  expect(answered.map(({ status }) => status)).toEqual([500, 500]);
});

test('requests that are sent one behind the other are answered in order; two headers Host are none', async () => {
  const { port } = await start();
  const request = (body: string, host = 'Host: a') =>
    `POST /raw HTTP/1.1\r\n${host}\r\nAuthorization: Bearer good\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const exchange = async (sent: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.end(sent);
    return text(socket);
  };
  const answers = await exchange(request('one') + request('two') + request('three'));
  expect(answers.match(/POST (one|two|three)/g)).toEqual(['POST one', 'POST two', 'POST three']);
  expect(await exchange(request('one', 'Host: a\r\nHost: b'))).toMatch(/^HTTP\/1\.1 400 /);
});

test('what comes on an open connection while the server closes is answered like any other, and is the last there', async () => {
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
  const answers = await text(socket);
  await closed;
  expect(answers.match(/HTTP\/1\.1 \d+|POST (first|second)/g)).toEqual([
    'HTTP/1.1 200',
    'POST first',
    'HTTP/1.1 200',
    'POST second',
  ]);
  expect(answers).toMatch(/connection: close/i);
});
