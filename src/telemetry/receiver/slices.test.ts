import { scan } from '@agent-platform/otlp';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../../packages/otlp/tests/decode.ts';
import { encodeRequest, lengthField } from '../../../packages/otlp/tests/encode.ts';
import { slicesOf } from './slices.ts';

const names = (bytes: Uint8Array): string[] => decodeProtobuf(bytes).map(({ name }) => name);
const unknown = lengthField(99, 'kept as it is');

test('refused spans are in no slice', () => {
  const spans = [{ name: 'good' }, { name: 'zero', traceId: '0'.repeat(32) }, { name: 'also good' }];
  const bytes = encodeRequest([{ scopes: [{ spans }] }]);
  const [slice] = slicesOf(bytes, scan(bytes)!, { forAgent: () => [1] });
  expect(names(slice!.bytes)).toEqual(['good', 'also good']);
  expect(slice!.spans).toBe(2);
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
