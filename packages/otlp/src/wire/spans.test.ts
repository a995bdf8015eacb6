import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../tests/decode.ts';
import { encodeRequest, lengthField } from '../../tests/encode.ts';
import { decodeResource, decodeScope, decodeSpan } from './decode.ts';
import { eachSpan, joinSpans, type SpansAround } from './spans.ts';

const unknown = lengthField(99, 'kept as it is');

const requests = [
  encodeRequest([
    { attributes: { a: 1 }, unknown, scopes: [{ spans: [{ name: 'x', unknown }, { name: 'y' }], unknown }] },
    {
      attributes: { b: [1, { c: true }] },
      resourceLast: true,
      scopes: [{ name: 's', spans: [{ name: 'z' }] }],
    },
    { scopes: [{ spans: [] }, { spans: [{ name: 'last', attributes: { k: 'v' } }] }] },
  ]),
];

const groupsOf = (bytes: Buffer): SpansAround[] => {
  const groups: SpansAround[] = [];
  expect(
    eachSpan(bytes, (from, to, around) => {
      groups.push({ around, bytes, ranges: [from, to] });
    }),
  ).toBe(true);
  return groups;
};

test('spans that are taken apart and joined again are the same, with all that is around them', () => {
  for (const bytes of requests) {
    const joined = joinSpans(groupsOf(bytes));
    expect(decodeProtobuf(joined)).toEqual(decodeProtobuf(bytes));
    expect(joined.toString().split('kept as it is').length).toBeGreaterThan(4);
  }
});

test('damaged bytes are no request, without an exception', () => {
  const [bytes] = requests;
  for (let at = 0; at < bytes!.length; at++) {
    for (const flip of [1, 4, 0x80, 0xff]) {
      const damaged = Buffer.from(bytes!);
      damaged[at]! ^= flip;
      eachSpan(damaged, (from, to, around) => {
        decodeSpan(damaged.subarray(from, to));
        decodeResource(around.resource);
        decodeScope(around.scope);
      });
    }
    let seen = 0;
    if (at > 0) expect(eachSpan(bytes!.subarray(0, at), () => seen++) && seen === 0).toBe(false);
  }
});

test('spans of the OpenTelemetry SDK are decoded, with exact integers and times', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('sdk', '1.2');
  const span = tracer.startSpan('one', {
    kind: 2,
    attributes: { text: 'ä\0', yes: true, whole: -7, half: 0.5, list: ['a', 'b'] },
    links: [
      { context: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }, attributes: { l: 1 } },
    ],
  });
  span.addEvent('event', { n: 1 }).setStatus({ code: 2, message: 'no' }).end();
  const bytes = Buffer.from(ProtobufTraceSerializer.serializeRequest(exporter.getFinishedSpans())!);
  const [expected] = decodeProtobuf(bytes);
  eachSpan(bytes, (from, to, around) => {
    const { resource, scope, ...rest } = expected!;
    expect(decodeSpan(bytes.subarray(from, to))).toEqual(rest);
    expect(decodeResource(around.resource)).toEqual(resource);
    expect(decodeScope(around.scope)).toEqual({ ...scope, attributes: {} });
  });
  await provider.shutdown();
});

test('values that JSON cannot hold are text, and a key `__proto__` is one like any other', () => {
  const value = (key: string, any: Buffer) =>
    lengthField(9, Buffer.concat([lengthField(1, key), lengthField(2, any)]));
  const largest = Buffer.from([0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
  const minusOne = Buffer.from([0x18, ...Array(9).fill(0xff), 1]);
  const nan = Buffer.concat([Buffer.from([0x21]), Buffer.from([0, 0, 0, 0, 0, 0, 0xf8, 0x7f])]);
  const { attributes } = decodeSpan(
    Buffer.concat([
      value('largest', largest),
      value('minus', minusOne),
      value('nan', nan),
      value('bytes', lengthField(7, Buffer.from([0, 255]))),
      value('__proto__', lengthField(1, 'x')),
    ]),
  );
  expect(Object.entries(attributes)).toEqual([
    ['largest', '9223372036854775807'],
    ['minus', -1],
    ['nan', 'NaN'],
    ['bytes', 'AP8='],
    ['__proto__', 'x'],
  ]);
});
