import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../tests/decode.ts';
import { encodeRequest, lengthField } from '../../tests/encode.ts';
import { withResourceAttributes } from './resource.ts';
import { scan } from './wire.ts';

const given = { 'service.name': 'shop', 'deployment.environment': 'staging', ünïcode: 'ä,=' };

test('each resource has the attributes once, and everything else stays as it was', () => {
  const unknown = lengthField(99, 'later');
  const scopes = [{ name: 's', spans: [{ name: 'one', attributes: { 'service.name': 'of the span' } }] }];
  const body = Buffer.concat([
    encodeRequest([
      { attributes: { 'service.name': 'old', other: [1, { a: true }] }, unknown, scopes },
      { attributes: { 'deployment.environment': 'x' }, resourceLast: true, scopes },
      { scopes },
    ]),
    unknown,
  ]);
  const result = withResourceAttributes(body, given);
  const spans = decodeProtobuf(result);
  expect(spans.map(({ resource }) => resource)).toEqual([
    { other: [1, { a: true }], ...given },
    given,
    given,
  ]);
  const others = (bytes: Buffer) => decodeProtobuf(bytes).map(({ resource: _, ...span }) => span);
  expect(others(result)).toEqual(others(body));
  for (const key of Object.keys(given)) expect(result.toString().split(`\n${key}`)).toHaveLength(1);
  expect(result.toString().split('later')).toHaveLength(3);
  expect(result.toString()).not.toContain('old');
  expect(scan(result)).toMatchObject({ spans: 3, rejected: 0 });
});

test('several resource fields of one message become one, as parsers merge them', () => {
  const attribute = (key: string, value: string) =>
    lengthField(1, Buffer.concat([lengthField(1, key), lengthField(2, lengthField(1, value))]));
  const spans = encodeRequest([{ scopes: [{ spans: [{ name: 'a' }] }] }]);
  const resources = Buffer.concat([
    lengthField(1, attribute('first', '1')),
    lengthField(1, Buffer.concat([attribute('service.name', 'old'), attribute('second', '2')])),
  ]);
  const inner = spans.subarray(2);
  const result = withResourceAttributes(lengthField(1, Buffer.concat([resources, inner])), given);
  expect(decodeProtobuf(result)[0]!.resource).toEqual({ first: '1', second: '2', ...given });
});
