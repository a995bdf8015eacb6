import { gzipSync } from 'node:zlib';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

/** A parent, and a child with everything in it, as the SDK makes them. */
function sdkSpans() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'café', 'gen_ai.agent.id': 'a-1' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('scope-name', '1.2.3');
  const parent = tracer.startSpan('parent', { kind: SpanKind.SERVER });
  const child = tracer.startSpan(
    'child',
    {
      kind: SpanKind.CLIENT,
      links: [{ context: parent.spanContext(), attributes: { why: 'link' } }],
      attributes: {
        text: 'ü',
        yes: true,
        int: -5,
        big: 9_007_199_254_740_991,
        double: 1.5,
        list: ['x', 'y'],
      },
      startTime: [1_700_000_000, 123_456_789],
    },
    trace.setSpan(ROOT_CONTEXT, parent),
  );
  child.addEvent('event', { n: 1 }, [1_700_000_001, 1]);
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'broken' });
  child.end([1_700_000_002, 2]);
  parent.end();
  return { spans: exporter.getFinishedSpans(), parent: parent.spanContext(), child: child.spanContext() };
}

const { spans: finished, parent, child } = sdkSpans();
const protobuf = Buffer.from(ProtobufTraceSerializer.serializeRequest(finished)!);
const json = Buffer.from(JsonTraceSerializer.serializeRequest(finished)!);

let receiver: OtlpReceiver;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
});
afterAll(() => receiver.close());
afterEach(() => {
  receiver.clear();
  receiver.respondWith({});
});

const send = (body: Buffer, headers: Record<string, string> = {}, method = 'POST') =>
  fetch(receiver.url, {
    method,
    ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
    headers: { 'content-type': 'application/x-protobuf', ...headers },
  });
const gzip = { 'content-encoding': 'gzip' };
const asJson = { 'content-type': 'application/json' };

describe('what the SDK sends is read field by field', () => {
  test.each([
    ['protobuf', protobuf, {}],
    ['protobuf, gzip', gzipSync(protobuf), gzip],
    ['JSON', json, asJson],
    ['JSON, gzip', gzipSync(json), { ...asJson, ...gzip }],
  ])('%s', async (_name, body, headers: Record<string, string>) => {
    expect((await send(body, headers)).status).toBe(200);
    const spans = await receiver.waitForSpans(2, 1_000);
    expect(spans.map((s) => [s.name, s.kind, s.spanId, s.parentSpanId])).toEqual([
      ['child', 3, child.spanId, parent.spanId],
      ['parent', 2, parent.spanId, ''],
    ]);
    expect(spans[0]).toMatchObject({
      resource: { 'service.name': 'café', 'gen_ai.agent.id': 'a-1' },
      scope: { name: 'scope-name', version: '1.2.3' },
      traceId: parent.traceId,
      startTimeUnixNano: 1_700_000_000_123_456_789n,
      endTimeUnixNano: 1_700_000_002_000_000_002n,
      attributes: {
        text: 'ü',
        yes: true,
        int: -5,
        big: 9_007_199_254_740_991,
        double: 1.5,
        list: ['x', 'y'],
      },
      events: [{ name: 'event', timeUnixNano: 1_700_000_001_000_000_001n, attributes: { n: 1 } }],
      links: [{ traceId: parent.traceId, spanId: parent.spanId, attributes: { why: 'link' } }],
      status: { code: 2, message: 'broken' },
    });
    expect(receiver.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/traces',
      fault: null,
      status: 200,
    });
    expect(receiver.requests[0]!.body.equals(body)).toBe(true);
  });

  test('64-bit integers keep every digit, as JSON numbers too', async () => {
    const attributes =
      '[{"key":"a","value":{"intValue":9223372036854775807}},{"key":"b","value":{"intValue":"-9223372036854775808"}}]';
    await send(
      Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":${attributes}}]}]}]}`),
      asJson,
    );
    expect(receiver.spans()[0]!.attributes).toMatchObject({
      a: 9_223_372_036_854_775_807n,
      b: -9_223_372_036_854_775_808n,
    });
  });
});

describe('an invalid request is refused and not counted', () => {
  test.each([
    [
      'a second gzip member',
      Buffer.concat([gzipSync(protobuf), gzipSync(protobuf)]),
      gzip,
      400,
      'after the first member',
    ],
    [
      'bytes after the member',
      Buffer.concat([gzipSync(protobuf), Buffer.alloc(3)]),
      gzip,
      400,
      '3 bytes after',
    ],
    ['a gzip member cut off', gzipSync(protobuf).subarray(0, -3), gzip, 400, 'cut off'],
    ['protobuf cut off', protobuf.subarray(0, -1), {}, 400, 'beyond its message'],
    ['broken JSON', Buffer.from('{'), asJson, 400, 'JSON'],
    ['another content type', protobuf, { 'content-type': 'text/plain' }, 415, 'text/plain'],
    ['another encoding', protobuf, { 'content-encoding': 'br' }, 415, 'br'],
  ])('%s', async (_name, body, headers: Record<string, string>, status, fault) => {
    expect((await send(body, headers)).status).toBe(status);
    expect(receiver.requests[0]!.fault).toContain(fault);
    expect(receiver.spans()).toEqual([]);
  });

  test('another method', async () => {
    expect((await send(protobuf, {}, 'GET')).status).toBe(405);
  });
});

describe('it misbehaves on request', () => {
  test('sends scripted statuses, headers and bodies; keeps only the spans of requests that got 2xx', async () => {
    receiver.respondWith((_request, index) =>
      index === 0 ? { status: 429, headers: { 'retry-after': '7' }, body: 'slow' } : index === 1 ? 503 : {},
    );
    const first = await send(protobuf);
    expect([first.status, first.headers.get('retry-after'), await first.text()]).toEqual([429, '7', 'slow']);
    expect((await send(protobuf)).status).toBe(503);
    expect(receiver.spans()).toHaveLength(0);
    expect((await send(protobuf)).status).toBe(200);
    expect(receiver.spans()).toHaveLength(2);
    expect(receiver.requests.map((r) => r.status)).toEqual([429, 503, 200]);
  });

  test('sends a partial success in the encoding of the request, which the SDK can read', async () => {
    receiver.respondWith({ partialSuccess: { rejectedSpans: 300, errorMessage: 'too old' } });
    const response = new Uint8Array(await (await send(protobuf)).arrayBuffer());
    expect(Number(ProtobufTraceSerializer.deserializeResponse(response).partialSuccess?.rejectedSpans)).toBe(
      300,
    );
    expect(ProtobufTraceSerializer.deserializeResponse(response).partialSuccess?.errorMessage).toBe(
      'too old',
    );
    expect(await (await send(json, asJson)).json()).toEqual({
      partialSuccess: { rejectedSpans: 300, errorMessage: 'too old' },
    });
  });

  test('drops a connection, responds late, or never responds until it is closed', async () => {
    receiver.respondWith({ drop: true });
    await expect(send(protobuf)).rejects.toThrow();
    receiver.respondWith({ delayMs: 30 });
    const before = performance.now();
    expect((await send(protobuf)).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThan(25);
    await using other = await startOtlpReceiver();
    other.respondWith({ hang: true });
    const hanging = fetch(other.url, { method: 'POST', body: '{}', headers: asJson });
    const failure = expect(hanging).rejects.toThrow();
    expect((await other.waitForRequests(1))[0]).toMatchObject({ status: null, fault: null });
    await other.close();
    await failure;
  });

  test('waiting for spans that do not come says how many did', async () => {
    await send(protobuf);
    await expect(receiver.waitForSpans(5, 20)).rejects.toThrow('2 of 5 spans after 20 ms (1 requests)');
  });
});
