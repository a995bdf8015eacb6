import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeJson, decodeProtobuf } from '../../tests/decode.ts';
import { lengthField } from '../../tests/encode.ts';
import { fromJson } from './json.ts';
import { maxAttributeDepth, scan } from './wire.ts';

const convert = (text: string): Buffer => {
  const result = fromJson(Buffer.from(text));
  if ('error' in result) throw new Error(result.error);
  return result;
};
const withSpan = (span: string): string =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174",${span}}]}]}]}`;
const only = (text: string) => decodeProtobuf(convert(text))[0]!;
const errorOf = (text: string): string => {
  const result = fromJson(Buffer.from(text));
  return 'error' in result ? result.error : '';
};

test('64-bit integers are exact as strings and as bare numbers, hex ids are read in either case', () => {
  const span = only(
    withSpan(`"startTimeUnixNano":1544712660300000001,"endTimeUnixNano":"18446744073709551615","attributes":[
      {"key":"a","value":{"intValue":9007199254740993}},{"key":"b","value":{"intValue":"-9223372036854775808"}},
      {"key":"c","value":{"intValue":-9007199254740995}},{"key":"d","value":{"doubleValue":1544712660300000001}}]`),
  );
  expect(span.traceId).toBe('5b8efff798038103d269b633813fc60c');
  expect(span.startTimeUnixNano).toBe(1544712660300000001n);
  expect(span.endTimeUnixNano).toBe(18446744073709551615n);
  expect({ ...span.attributes }).toEqual({
    a: 9007199254740993n,
    b: -9223372036854775808n,
    c: -9007199254740995n,
    d: 1544712660300000000,
  });
});

test('the entities of a resource arrive', () => {
  const entity = { schemaUrl: 'u', type: 'service', idKeys: ['a', 'b'], descriptionKeys: ['c'] };
  const texts = [lengthField(1, 'u'), lengthField(2, 'service')];
  const keys = [lengthField(3, 'a'), lengthField(3, 'b'), lengthField(4, 'c')];
  expect(convert(JSON.stringify({ resourceSpans: [{ resource: { entityRefs: [entity, {}] } }] }))).toEqual(
    lengthField(
      1,
      lengthField(1, Buffer.concat([lengthField(3, Buffer.concat([...texts, ...keys])), lengthField(3, '')])),
    ),
  );
});

test('every kind of value arrives, enums by number or name, unknown fields are ignored', () => {
  const span = only(
    withSpan(`"name":"é😀","kind":"SPAN_KIND_CLIENT","status":{"code":2,"message":"m"},"unknown":{"deep":[1]},"flags":257,
      "parentSpanId":"EEE19B7EC3C1B173","traceState":"a=b","droppedAttributesCount":3,"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}],
      "events":[{"name":"e","timeUnixNano":"7","attributes":[{"key":"k","value":{"stringValue":""}}]}],"attributes":[
      {"key":"bytes","value":{"bytesValue":"aGk="}},{"key":"empty","value":{}},{"key":"null","value":null},{"key":"no","value":{"boolValue":false}},
      {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"},{"intValue":1},{"doubleValue":"NaN"}]}}},
      {"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":true}}]}}}]`),
  );
  expect(span).toMatchObject({
    name: 'é😀',
    kind: 3,
    status: { code: 2, message: 'm' },
    parentSpanId: 'eee19b7ec3c1b173',
    traceState: 'a=b',
    links: [{ traceId: '5b8efff798038103d269b633813fc60c' }],
    events: [{ name: 'e', timeUnixNano: 7n }],
  });
  expect(Buffer.from(span.attributes.bytes as Uint8Array).toString()).toBe('hi');
  expect(span.attributes.list).toEqual(['x', 1, Number.NaN]);
  expect(span.attributes.map).toEqual(Object.assign(Object.create(null), { k: true }));
  expect([span.attributes.no, span.attributes.empty, span.attributes.null]).toEqual([false, null, null]);
});

test('the JSON of the OpenTelemetry SDK becomes its protobuf', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 's' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('sdk', '1.2');
  const span = tracer.startSpan('one', { attributes: { a: 1, b: 'x', c: [true, false], d: 1.5 } });
  span.addEvent('event', { list: ['a', 'b'] }).recordException(new Error('e'));
  span.end();
  const spans = exporter.getFinishedSpans();
  const json = Buffer.from(JsonTraceSerializer.serializeRequest(spans)!);
  const protobuf = Buffer.from(ProtobufTraceSerializer.serializeRequest(spans)!);
  expect(decodeProtobuf(convert(json.toString()))).toEqual(decodeProtobuf(protobuf));
  expect(decodeJson(json)).toEqual(decodeProtobuf(protobuf));
  await provider.shutdown();
});

test('any text and number arrives unchanged, whatever the size', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          key: fc.string({ unit: 'binary' }),
          text: fc.string({ maxLength: 300 }),
          n: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          x: fc.double(),
        }),
        { maxLength: 20 },
      ),
      (items) => {
        const attributes = items.flatMap(({ text, n, x }, i) => [
          { key: `t${i}`, value: { stringValue: text } },
          { key: `n${i}`, value: { intValue: String(n) } },
          { key: `x${i}`, value: { doubleValue: Number.isFinite(x) ? x : String(x) } },
        ]);
        const json = withSpan(`"attributes":${JSON.stringify(attributes)}`);
        expect(decodeProtobuf(convert(json))).toEqual(decodeJson(Buffer.from(json)));
      },
    ),
    { numRuns: 100 },
  );
});

test('a bad id costs only its span, a bad shape the request, and the message names the place', () => {
  const found = scan(convert(withSpan('"name":"ok"').replace('5B8E', 'xyzw')))!;
  expect([found.spans, found.rejected]).toEqual([1, 1]);
  expect(errorOf('{"resourceSpans":{}}')).toBe('resourceSpans must be an array');
  expect(errorOf('{"resourceSpans":[[]]}')).toBe('resourceSpans[0] must be an object');
  expect(errorOf(withSpan('"name":7'))).toBe('name must be a string');
  expect(errorOf(withSpan('"startTimeUnixNano":"1.5"'))).toContain('startTimeUnixNano must be an integer');
  expect(errorOf(withSpan('"startTimeUnixNano":-1'))).toContain('startTimeUnixNano');
  expect(errorOf('null')).toBe('the body must be an object');
  expect(errorOf('{"resourceSpans"')).toContain('not valid JSON');
  expect(fromJson(Buffer.from([0x7b, 0xff, 0x7d]))).toHaveProperty('error');
  expect(fromJson(Buffer.from(`${'['.repeat(300_000)}1234567890123456`))).toHaveProperty('error');
});

test('values nested too deeply cost only their span', () => {
  const nest = (depth: number): string =>
    depth === 0 ? '{"boolValue":true}' : `{"arrayValue":{"values":[${nest(depth - 1)}]}}`;
  const text = (depth: number) => withSpan(`"attributes":[{"key":"k","value":${nest(depth)}}]`);
  expect(scan(convert(text(maxAttributeDepth)))!.rejected).toBe(0);
  expect(scan(convert(text(maxAttributeDepth + 1)))!.rejected).toBe(1);
  expect(scan(convert(text(2_000)))!.rejected).toBe(1);
});
