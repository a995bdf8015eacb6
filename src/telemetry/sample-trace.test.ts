import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../packages/otlp/tests/decode.ts';
import { sampleTrace } from './sample-trace.ts';

test('the sample span of a test has the resource of the platform with what its operator chose', () => {
  const [span] = decodeProtobuf(sampleTrace(Date.now(), { 'service.name': 'ours', zone: 'b' }));
  expect(span!.resource).toMatchObject({
    'service.name': 'ours',
    zone: 'b',
    'service.version': expect.stringMatching(/^\d+\./),
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});
