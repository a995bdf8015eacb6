import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { constants, gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { mostSpans, partialSuccess } from '@agent-platform/otlp';
import { type Slice, type TelemetryLog, TelemetryLogError } from '@agent-platform/otlp/log';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../../packages/otlp/tests/decode.ts';
import { encodeRequest, lengthField, spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { createReceiver, type ReceiverOptions } from './receiver.ts';

/** A receiver over a log that keeps what is appended, and takes as long as the test wants. */
const startReceiver = (options: Partial<ReceiverOptions> & { append?: () => Promise<void> } = {}) => {
  const appended: Slice[] = [];
  const log = {
    append: async (slices: readonly Slice[]) => {
      await options.append?.();
      // Bytes that were appended are freed.
      appended.push(...slices.map((slice) => ({ ...slice, bytes: Buffer.from(slice.bytes) })));
    },
  } as unknown as TelemetryLog;
  const routes = () => ({ forAgent: (agent: string | null) => (agent === null ? [] : [1, 2]) });
  return { appended, receiver: createReceiver({ log, routes, ...options }) };
};

const body = spansNamed('s', 3, 'agent');
const protobuf = { contentType: 'application/x-protobuf', contentEncoding: undefined, body };
const json = (text: string, contentEncoding?: string) => ({
  contentType: 'application/json; charset=utf-8',
  contentEncoding,
  body: Buffer.from(text),
});

test('protobuf is stored byte for byte, plain or gzipped, in any spelling of the header and any number of members', async () => {
  const { appended, receiver } = startReceiver();
  const second = spansNamed('t', 1, 'agent');
  const zipped = gzipSync(body);
  for (const asked of [
    protobuf,
    { ...protobuf, contentEncoding: 'Identity' },
    { ...protobuf, contentEncoding: 'GZIP', contentType: 'APPLICATION/X-PROTOBUF; x=y', body: zipped },
    { ...protobuf, body: Readable.from([body.subarray(0, 5), body.subarray(5)]) },
  ]) {
    const result = await receiver.receive(asked);
    expect(result).toMatchObject({ status: 200, contentType: 'application/x-protobuf' });
    expect(result.body).toHaveLength(0);
    expect(appended.pop()).toMatchObject({ spans: 3, routes: [1, 2] });
  }
  const result = await receiver.receive({
    ...protobuf,
    contentEncoding: 'gzip',
    body: Buffer.concat([zipped, gzipSync(second)]),
  });
  expect(result.status).toBe(200);
  expect(appended[0]!.bytes.equals(Buffer.concat([body, second]))).toBe(true);
  expect(receiver.counts()).toEqual({ accepted: 16, refused: 0 });
});

test('zstd is read in any number of frames, small or large, and stored as any other body', async () => {
  const { appended, receiver } = startReceiver();
  const zstd = { ...protobuf, contentEncoding: 'zstd' };
  const second = spansNamed('t', 1, 'agent');
  const frames = Buffer.concat([zstdCompressSync(body), zstdCompressSync(second)]);
  expect((await receiver.receive({ ...zstd, body: frames })).status).toBe(200);
  expect(appended.pop()!.bytes.equals(Buffer.concat([body, second]))).toBe(true);
  const large = spansNamed('s', 200, 'agent', 500);
  // Level -100 hardly compresses, so that the body is too large to be inflated in place.
  const hardly = { params: { [constants.ZSTD_c_compressionLevel]: -100 } };
  for (const compressed of [zstdCompressSync(large), zstdCompressSync(large, hardly)]) {
    expect((await receiver.receive({ ...zstd, body: compressed })).status).toBe(200);
    const { bytes, gzip } = appended.pop()!;
    expect(gzip).toBe(true);
    expect(gunzipSync(bytes).equals(large)).toBe(true);
  }
  expect((await receiver.receive({ ...json('{}'), contentEncoding: 'zstd' })).status).toBe(400);
  const empty = { ...json(''), body: zstdCompressSync('{}'), contentEncoding: 'zstd' };
  expect(await receiver.receive(empty)).toMatchObject({ status: 200, contentType: 'application/json' });
});

test('JSON is stored as protobuf, and its response is JSON', async () => {
  const { appended, receiver } = startReceiver();
  const text =
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"gen_ai.agent.id","value":{"stringValue":"a"}}]},"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","name":"n"},{"name":"no ids"}]}]}]}';
  const result = await receiver.receive(json(text));
  expect(result).toMatchObject({ status: 200, contentType: 'application/json' });
  expect(JSON.parse(result.body.toString())).toEqual({
    partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('trace_id') },
  });
  expect(decodeProtobuf(appended[0]!.bytes).map(({ name }) => name)).toEqual(['n']);
  expect((await receiver.receive(json('{}'))).body.toString()).toBe('{}');
});

test('refused spans are reported in partial_success, and the others are accepted', async () => {
  const { appended, receiver } = startReceiver();
  const mixed = encodeRequest([
    {
      attributes: { 'gen_ai.agent.id': 'a' },
      scopes: [{ spans: [{ name: 'bad', traceId: 'ab' }, { name: 'good' }] }],
    },
  ]);
  const result = await receiver.receive({ ...protobuf, body: mixed });
  expect(result.status).toBe(200);
  expect(partialSuccess(result.contentType, result.body)).toMatchObject({ rejected: 1 });
  expect(appended[0]!.spans).toBe(1);
});

test('errors are Status messages in the encoding of the request', async () => {
  const { appended, receiver } = startReceiver({ maxBodyBytes: 100_000 });
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const zstd = 'zstd' as unknown as undefined;
  const wide = { params: { [constants.ZSTD_c_windowLog]: 24 } };
  const cases: [Partial<typeof protobuf> | ReturnType<typeof json>, number][] = [
    [{ contentType: 'text/plain' }, 415],
    [{ contentType: undefined as unknown as string }, 415],
    [{ contentEncoding: 'br' as unknown as undefined }, 415],
    [{ body: Buffer.from([0xff]) }, 400],
    [{ body: Buffer.from('not gzip'), contentEncoding: 'gzip' as unknown as undefined }, 400],
    [{ body: gzipSync(body).subarray(0, 20), contentEncoding: 'gzip' as unknown as undefined }, 400],
    [{ body: Buffer.alloc(100_001) }, 413],
    [{ body: bomb, contentEncoding: 'gzip' as unknown as undefined }, 413],
    [{ body: Buffer.from('not zstd'), contentEncoding: zstd }, 400],
    [{ body: zstdCompressSync(body).subarray(0, 20), contentEncoding: zstd }, 400],
    [{ body: zstdCompressSync(Buffer.alloc(20_000_000), wide), contentEncoding: zstd }, 400],
    [{ body: zstdCompressSync(Buffer.alloc(50_000_000)), contentEncoding: zstd }, 413],
    [{ contentEncoding: 'gzip, zstd' as unknown as undefined }, 415],
    [{ body: Readable.from([Buffer.alloc(60_000), Buffer.alloc(60_000)]) as unknown as Buffer }, 413],
    [json('{'), 400],
    [json('{}', 'deflate'), 415],
  ];
  for (const [change, status] of cases) {
    const asked = { ...protobuf, ...change };
    const result = await receiver.receive(asked);
    expect(result.status).toBe(status);
    if (asked.contentType === 'application/x-protobuf') {
      expect(result.contentType).toBe('application/x-protobuf');
      expect(result.body[0]).toBe(8);
      expect(result.body[2]).toBe(18);
    } else {
      expect(result.contentType).toBe('application/json');
      expect(JSON.parse(result.body.toString())).toEqual({
        code: expect.any(Number),
        message: expect.any(String),
      });
    }
  }
  expect(appended).toEqual([]);
});

test('200 is sent after the log is durable and never before', async () => {
  let durable = () => {};
  const { receiver } = startReceiver({ append: () => new Promise((resolve) => (durable = resolve)) });
  let responded = false;
  const result = receiver.receive(protobuf).then((one) => {
    responded = true;
    return one;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(responded).toBe(false);
  durable();
  expect((await result).status).toBe(200);
});

test('the bytes of a request are freed as soon as they are durable', async () => {
  const appended: Slice[] = [];
  const lengths: number[] = [];
  const log = {
    append: async (slices: readonly Slice[]) => {
      appended.push(...slices);
      lengths.push(...slices.map(({ bytes }) => bytes.length));
    },
  } as unknown as TelemetryLog;
  const receiver = createReceiver({ log, routes: () => ({ forAgent: () => [1] }) });
  const attributes = { 'gen_ai.agent.id': 'agent', text: randomBytes(100_000).toString('hex') };
  const large = encodeRequest([{ scopes: [{ spans: [{ name: 's', attributes }] }] }]);
  const piece = Buffer.from(large);
  await receiver.receive({ ...protobuf, contentEncoding: undefined, body: Readable.from([piece]) });
  await receiver.receive({ ...protobuf, contentEncoding: 'gzip', body: gzipSync(large) });
  expect(lengths.every((length) => length > 100_000)).toBe(true);
  expect(appended.map(({ bytes }) => bytes.length)).toEqual([0, 0]);
  expect(piece).toHaveLength(0);
});

test('a full disk and full memory are 503 with Retry-After, until there is room again', async () => {
  let full = true;
  const { receiver } = startReceiver({
    append: () =>
      full ? Promise.reject(new TelemetryLogError('full', 'the disk is full')) : Promise.resolve(),
  });
  expect(await receiver.receive(protobuf)).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
  full = false;
  expect((await receiver.receive(protobuf)).status).toBe(200);

  let release = () => {};
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  const small = startReceiver({ maxBytesInMemory: body.length + 10, append: () => waiting }).receiver;
  const first = small.receive(protobuf);
  expect(await small.receive(protobuf)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  release();
  expect((await first).status).toBe(200);
  expect((await small.receive(protobuf)).status).toBe(200);
});

test('a body that breaks off is 400 and frees its memory', async () => {
  const { receiver } = startReceiver({ maxBytesInMemory: 2 * body.length });
  for (let i = 0; i < 5; i++) {
    const broken = new Readable({
      read() {
        this.push(body.subarray(0, 8));
        this.destroy(new Error('aborted'));
      },
    });
    expect((await receiver.receive({ ...protobuf, body: broken })).status).toBe(400);
  }
  expect((await receiver.receive(protobuf)).status).toBe(200);
});

test('a body whose announced length is too large is refused before it arrives', async () => {
  const { receiver } = startReceiver({ maxBodyBytes: 100_000, dropMs: 1 });
  const unread = new Readable({ read: () => {} });
  const result = await receiver.receive({ ...protobuf, contentLength: 100_001, body: unread });
  expect(result).toMatchObject({ status: 413 });
  await once(unread, 'close');
});

test('a body arrives whole however it is cut, whatever length it announced', async () => {
  const { appended, receiver } = startReceiver();
  const large = spansNamed('s', 200, 'agent', 500);
  const cut = (size: number) =>
    Array.from({ length: Math.ceil(large.length / size) }, (_, i) =>
      Buffer.from(large.subarray(i * size, (i + 1) * size)),
    );
  for (const [size, contentLength] of [
    [1, undefined],
    [7, large.length],
    [10_000, undefined],
    [65_536, large.length],
    [large.length, large.length],
    [large.length, undefined],
  ] as const) {
    await receiver.receive({ ...protobuf, contentLength, body: Readable.from(cut(size)) });
    const { bytes, gzip } = appended.pop()!;
    expect(gzip).toBe(true);
    expect(gunzipSync(bytes).equals(large)).toBe(true);
  }
});

test('the protobuf that JSON becomes counts as memory too', async () => {
  const text = `{"resourceSpans":[],"padding":"${'x'.repeat(10_000)}"}`;
  const { receiver } = startReceiver({ maxBytesInMemory: 1.5 * text.length });
  expect((await receiver.receive(json(text))).status).toBe(503);
  const { receiver: larger } = startReceiver({ maxBytesInMemory: 2 * text.length });
  for (let i = 0; i < 3; i++) expect((await larger.receive(json(text))).status).toBe(200);
});

test('a few KB that inflate to millions of empty spans are refused whole', async () => {
  const { appended, receiver } = startReceiver();
  const empty = Buffer.alloc(2 * mostSpans, Buffer.from([0x12, 0]));
  const request = (spans: Buffer) => lengthField(1, lengthField(2, spans));
  const most = await receiver.receive({ ...protobuf, body: request(empty) });
  expect(partialSuccess(most.contentType, most.body).rejected).toBe(mostSpans);
  const bomb = gzipSync(request(Buffer.concat([empty, Buffer.from([0x12, 0])])));
  expect(bomb.length).toBeLessThan(10_000);
  const result = await receiver.receive({ ...protobuf, contentEncoding: 'gzip', body: bomb });
  expect(result.status).toBe(400);
  expect(appended).toEqual([]);
});

test('a client that sends too much reads its 413, and one that never ends is cut off', async () => {
  const patient = startReceiver({ maxBodyBytes: 100_000, dropMs: 60_000 }).receiver;
  const hasty = startReceiver({ maxBodyBytes: 100_000, dropMs: 500 }).receiver;
  let receiver = patient;
  const server = createServer(async (incoming, response) => {
    const {
      status,
      contentType,
      headers,
      body: text,
    } = await receiver.receive({
      contentType: incoming.headers['content-type'],
      contentEncoding: undefined,
      contentLength: Number(incoming.headers['content-length'] ?? 0),
      body: incoming,
    });
    response.writeHead(status, { 'content-type': contentType, ...headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const post = (write: (outgoing: ClientRequest) => void) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/x-protobuf' };
      let status: number | undefined;
      const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers, agent }, (result) => {
        status = result.statusCode!;
        result.resume();
      });
      // An error that cuts the connection after the response is no failure to read the response.
      outgoing.on('error', (error) => status === undefined && reject(error));
      outgoing.on('close', () => status !== undefined && resolve(status));
      write(outgoing);
    });
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  // A connection that is closed while bytes arrive often takes the response with it: it stays open.
  expect(await post((outgoing) => outgoing.end(Buffer.alloc(30_000_000)))).toBe(413);
  expect(await post((outgoing) => outgoing.end(body))).toBe(200);
  expect(sockets.length).toBe(1);
  receiver = hasty;
  const endless = post((outgoing) => {
    const timer = setInterval(() => outgoing.write(Buffer.alloc(50_000)), 5);
    outgoing.on('close', () => clearInterval(timer));
  });
  expect(await endless).toBe(413);
  expect(sockets[0]!.destroyed).toBe(true);
  expect(await post((outgoing) => outgoing.end(body))).toBe(200);
  agent.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a client that left before its body was read gets a response, and nothing waits for it', async () => {
  const { receiver } = startReceiver();
  const left = new Promise<number>((resolve) => {
    const server = createServer((incoming) => {
      // As it happens while its key is looked up.
      incoming.once('close', async () => {
        const { status } = await receiver.receive({ ...protobuf, body: incoming });
        resolve(status);
        server.close();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const outgoing = request({ port, host: '127.0.0.1', method: 'POST' }).on('error', () => {});
      outgoing.write(body, () => outgoing.destroy());
    });
  });
  expect(await left).toBe(400);
});
