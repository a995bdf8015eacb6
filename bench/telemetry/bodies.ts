import { gzipSync } from 'node:zlib';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';

export type Format = 'protobuf' | 'JSON';

const words =
  'order customer invoice the of agent was asked to look up price stock and answer in Berlin'.split(' ');
/** Text like that of models: words at random, so that it compresses as text does. */
const prose = (length: number): string => {
  let text = '';
  while (text.length < length)
    text += `${words[Math.floor(Math.random() * words.length)]}${Math.random() < 0.2 ? Math.random().toString(36).slice(2, 8) : ''} `;
  return text.slice(0, length);
};
const hex = (bytes: number): string =>
  Array.from({ length: bytes * 2 }, () => Math.floor(Math.random() * 16).toString(16)).join('');

const resource = { 'service.name': 'bench', 'gen_ai.agent.id': 'bench-agent' };
const spanOf = (i: number) => ({
  traceId: hex(16),
  spanId: hex(8),
  name: `chat ${i}`,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'mock-1',
    'gen_ai.usage.input_tokens': Math.floor(Math.random() * 4_000),
    'gen_ai.usage.output_tokens': Math.floor(Math.random() * 900),
    'gen_ai.input.messages': prose(1_000),
    'gen_ai.output.messages': prose(700),
  },
});

const jsonAttributes = (attributes: NonNullable<TestSpan['attributes']>) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
  }));

/** A request with spans of about 2 KB of one agent, as it is sent. */
export const bodyOf = (spans: number, format: Format, gzip: boolean): Buffer => {
  const made = Array.from({ length: spans }, (_, i) => spanOf(i));
  const plain =
    format === 'protobuf'
      ? encodeRequest([{ attributes: resource, scopes: [{ spans: made }] }])
      : Buffer.from(
          JSON.stringify({
            resourceSpans: [
              {
                resource: { attributes: jsonAttributes(resource) },
                scopeSpans: [
                  {
                    scope: { name: 'scope' },
                    spans: made.map((span) => ({ ...span, attributes: jsonAttributes(span.attributes) })),
                  },
                ],
              },
            ],
          }),
        );
  return gzip ? gzipSync(plain, { level: 6 }) : plain;
};
