import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../tests/decode.ts';
import { encodeRequest, lengthField, spansNamed, type TestValue } from '../../tests/encode.ts';
import { maxAttributeDepth, scan, selectSpans, takeSpans } from './wire.ts';

const names = (bytes: Uint8Array): string[] => decodeProtobuf(bytes).map(({ name }) => name);
const agentsOf = (bytes: Buffer): (string | null)[] => {
  const found = scan(bytes)!;
  return found.agentOf.map((agent) => found.agents[agent]!);
};

const unknown = lengthField(99, 'kept as it is');

test('a span belongs to its own agent, otherwise to that of its resource, wherever the resource is in the request', () => {
  const scopes = [
    {
      spans: [
        { name: 'a', attributes: { 'gen_ai.agent.id': 'own' } },
        { name: 'b', attributes: { other: 1 } },
        { name: 'c', attributes: { 'gen_ai.agent.id': '' } },
        { name: 'd', attributes: { 'gen_ai.agent.id': 7 } },
      ],
    },
  ];
  for (const resourceLast of [false, true]) {
    const bytes = encodeRequest([{ attributes: { 'gen_ai.agent.id': 'resource' }, resourceLast, scopes }]);
    expect(agentsOf(bytes)).toEqual(['own', 'resource', null, null]);
  }
  expect(agentsOf(encodeRequest([{ scopes }]))).toEqual(['own', null, null, null]);
});

test('spans with bad ids or attributes that nest too deeply are refused one by one', () => {
  let deep: TestValue = 'x';
  for (let i = 0; i <= maxAttributeDepth; i++) deep = i % 2 ? [deep] : { k: deep };
  const bytes = encodeRequest([
    {
      scopes: [
        {
          spans: [
            { name: 'good' },
            { name: 'short', traceId: 'abcd' },
            { name: 'zero', traceId: '0'.repeat(32) },
            { name: 'absent', spanId: '' },
            { name: 'zero span', spanId: '0'.repeat(16) },
            { name: 'deep', attributes: { deep } },
            { name: 'also good', attributes: { list: ['a', { k: 1 }] } },
          ],
        },
      ],
    },
  ]);
  const found = scan(bytes)!;
  expect(found.agentOf).toEqual([0, -1, -1, -1, -1, -1, 0]);
  expect(found.rejected).toBe(5);
  expect(found.rejection).toContain('trace_id');
  const taken = selectSpans(bytes, (span) => found.agentOf[span]! >= 0);
  expect(names(taken)).toEqual(['good', 'also good']);
});

test('every truncation and every flipped byte is either a request or refused, without an exception', () => {
  const bytes = encodeRequest([
    {
      attributes: { 'gen_ai.agent.id': 'a' },
      unknown,
      scopes: [{ spans: [{ name: 'x', unknown }, { name: 'y' }] }],
    },
  ]);
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length);
    // Only a cut between top-level fields leaves a request.
    if (scan(cut) !== null) expect(length).toBe(0);
  }
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [1, 4, 0x80, 0xff]) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= flip;
      const found = scan(damaged);
      if (found !== null)
        expect(selectSpans(damaged, () => true).equals(damaged) || found.spans === 0).toBe(true);
    }
  }
});

test('requests of the OpenTelemetry SDK are understood', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'gen_ai.agent.id': 'agent-1' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('sdk');
  tracer
    .startSpan('one')
    .addEvent('event', { list: ['a', 'b'] })
    .end();
  tracer.startSpan('two', { attributes: { 'gen_ai.agent.id': 'agent-2' } }).end();
  const bytes = Buffer.from(ProtobufTraceSerializer.serializeRequest(exporter.getFinishedSpans())!);
  expect(agentsOf(bytes)).toEqual(['agent-1', 'agent-2']);
  expect(names(takeSpans(bytes, 1, 2))).toEqual(['two']);
  await provider.shutdown();
});

test('chunks of a request, concatenated, hold its spans in order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(40)), (count, cuts) => {
      const bytes = Buffer.concat([spansNamed('a', count), spansNamed('b', 3)]);
      const at = [...new Set([0, ...cuts.map((c) => Math.min(c, count + 3)), count + 3])].sort(
        (a, b) => a - b,
      );
      const chunks = at.slice(1).map((to, i) => takeSpans(bytes, at[i]!, to));
      expect(names(Buffer.concat(chunks))).toEqual(names(bytes));
    }),
    { numRuns: 100 },
  );
});
