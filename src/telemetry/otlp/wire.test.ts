import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../../tests/harness/otlp-decode.ts';
import {
  encodeRequest,
  lengthField,
  spansNamed,
  type TestValue,
} from '../../../tests/harness/otlp-encode.ts';
import { slicesOf } from '../receiver/slices.ts';
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
  const [slice] = slicesOf(bytes, found, { forAgent: () => [1] });
  expect(names(slice!.bytes)).toEqual(['good', 'also good']);
  expect(slice!.spans).toBe(2);
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

const agentName = fc.constantFrom('a', 'b', 'c', undefined);
const request = fc.array(
  fc.record({
    agent: agentName,
    resourceLast: fc.boolean(),
    unknown: fc.boolean(),
    scopes: fc.array(fc.record({ unknown: fc.boolean(), spans: fc.array(agentName, { maxLength: 5 }) }), {
      maxLength: 3,
    }),
  }),
  { maxLength: 4 },
);

test('each span reaches exactly the integrations of its agent, with its bytes and order unchanged', () => {
  const table = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'none'),
    fc.uniqueArray(fc.integer({ min: 1, max: 4 })),
  );
  fc.assert(
    fc.property(request, table, (resources, routes) => {
      const attribute = (agent: string | undefined) =>
        agent === undefined ? {} : { 'gen_ai.agent.id': agent };
      let count = 0;
      const expected = new Map<number, string[]>();
      const bytes = encodeRequest(
        resources.map((resource) => ({
          attributes: attribute(resource.agent),
          resourceLast: resource.resourceLast,
          ...(resource.unknown ? { unknown } : {}),
          scopes: resource.scopes.map((scope) => ({
            ...(scope.unknown ? { unknown } : {}),
            spans: scope.spans.map((agent) => {
              const name = `span ${count++}`;
              for (const number of routes[agent ?? resource.agent ?? 'none'] ?? []) {
                expected.set(number, [...(expected.get(number) ?? []), name]);
              }
              return { name, attributes: attribute(agent), unknown };
            }),
          })),
        })),
      );
      const slices = slicesOf(bytes, scan(bytes)!, { forAgent: (agent) => routes[agent ?? 'none'] ?? [] });
      const routed = new Map<number, string[]>();
      for (const slice of slices) {
        expect(decodeProtobuf(slice.bytes)).toHaveLength(slice.spans);
        for (const number of slice.routes) {
          routed.set(number, [...(routed.get(number) ?? []), ...names(slice.bytes)]);
        }
        if (slice.spans === count) expect(slice.bytes).toBe(bytes);
        // Nothing of a span is changed, unknown fields included.
        expect(slice.bytes.toString('latin1').split('kept as it is').length).toBeGreaterThan(slice.spans);
      }
      for (const number of [1, 2, 3, 4]) {
        expect((routed.get(number) ?? []).sort()).toEqual((expected.get(number) ?? []).sort());
      }
    }),
    { numRuns: 300 },
  );
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
