import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  argsText,
  defaultUsage,
  halves,
  type Protocol,
  type ProviderRequest,
  type Turn,
  valuesOf,
  words,
} from './protocol.ts';
import { checkBedrock, refusalOf } from './strict.ts';

export const bedrockKeys = {
  region: 'eu-central-1',
  access_key_id: 'AKIAFAKEFAKEFAKE',
  secret_access_key: 'wJalrXUtnFEMI-K7MDENG-fake',
  session_token: 'IQoJb3JpZ2luX2VjEFAKE',
};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Whether the request has the signature of `bedrockKeys` (AWS Signature Version 4). */
export const hasSignature = ({ method, path, headers, text }: ProviderRequest): boolean => {
  const match =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/bedrock\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    );
  if (!match) return false;
  const [, keyId, date, region, signedNames, signature] = match as unknown as string[];
  const { access_key_id, secret_access_key, session_token } = bedrockKeys;
  if (keyId !== access_key_id || region !== bedrockKeys.region) return false;
  if (headers['x-amz-security-token'] !== session_token) return false;
  const names = signedNames!.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return false;
  // Each segment of the path is encoded once more than on the wire.
  const canonicalPath = path.split('/').map(encodeURIComponent).join('/');
  const canonical = [
    method,
    canonicalPath,
    '',
    ...names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedNames,
    sha256(text),
  ].join('\n');
  const scope = `${date}/${region}/bedrock/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = ['bedrock', 'aws4_request'].reduce(
    (derived: Buffer, part) => hmac(derived, part),
    hmac(hmac(`AWS4${secret_access_key}`, date!), region!),
  );
  return hmac(key, toSign).toString('hex') === signature;
};

/** A message of the binary event stream: lengths, headers and payload, each guarded by a CRC-32. */
const frame = (headers: Record<string, string>, payload: unknown): Buffer => {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      // 7: the value is a string.
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + encoded.length + body.length, 0);
  prelude.writeUInt32BE(encoded.length, 4);
  const checksum = (bytes: Buffer) => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    return sum;
  };
  const message = Buffer.concat([prelude, checksum(prelude), encoded, body]);
  return Buffer.concat([message, checksum(message)]);
};

const eventFrame = (type: string, payload: object): Buffer =>
  frame({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, payload);

const stopOf = ({ finish, calls }: Turn): string => {
  if (finish) return finish === 'length' ? 'max_tokens' : 'content_filtered';
  return calls ? 'tool_use' : 'end_turn';
};

const usageOf = ({ usage = defaultUsage, sentUsage }: Turn) =>
  sentUsage ?? {
    inputTokens: usage.input - usage.cached,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cached,
    cacheWriteInputTokens: 0,
  };

const blocksOf = (turn: Turn): { start?: object; deltas: object[]; whole: object }[] => [
  ...(turn.reasoning
    ? [
        {
          deltas: [
            ...halves(turn.reasoning.text).map((text) => ({ reasoningContent: { text } })),
            { reasoningContent: { signature: turn.reasoning.signature } },
          ],
          whole: { reasoningContent: { reasoningText: turn.reasoning } },
        },
      ]
    : []),
  ...(turn.text ? [{ deltas: words(turn.text).map((text) => ({ text })), whole: { text: turn.text } }] : []),
  ...(turn.calls ?? []).map(({ id: toolUseId, name, args }) => ({
    start: { toolUse: { toolUseId, name } },
    deltas: halves(argsText(args)).map((input) => ({ toolUse: { input } })),
    whole: { toolUse: { toolUseId, name, input: args } },
  })),
];

/** Bedrock's Converse and ConverseStream. */
export const bedrock: Protocol = {
  kind: 'bedrock',
  basePath: '',
  model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  settings: bedrockKeys,
  secrets: [bedrockKeys.secret_access_key, bedrockKeys.session_token],
  isAuthorized: hasSignature,
  refuses: (request) =>
    refusalOf(
      () => checkBedrock(request),
      ({ message }) => ({ status: 400, body: { message } }),
    ),
  streamType: 'application/vnd.amazon.eventstream',
  isStream: ({ path }) => path.endsWith('/converse-stream'),
  whole: (turn) => ({
    output: { message: { role: 'assistant', content: blocksOf(turn).map(({ whole }) => whole) } },
    stopReason: stopOf(turn),
    usage: usageOf(turn),
    metrics: { latencyMs: 7 },
  }),
  stream: (turn) => [
    eventFrame('messageStart', { role: 'assistant' }),
    ...blocksOf(turn).flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start ? [eventFrame('contentBlockStart', { start, contentBlockIndex })] : []),
      ...deltas.map((delta) => eventFrame('contentBlockDelta', { delta, contentBlockIndex })),
      eventFrame('contentBlockStop', { contentBlockIndex }),
    ]),
    eventFrame('messageStop', { stopReason: stopOf(turn) }),
    eventFrame('metadata', { usage: usageOf(turn), metrics: { latencyMs: 7 } }),
  ],
  error: (_status, message) => ({ message }),
  tooLong: { status: 400, body: { message: 'Input is too long for requested model.' } },
  streamError: () =>
    frame(
      {
        ':message-type': 'exception',
        ':exception-type': 'serviceUnavailableException',
        ':content-type': 'application/json',
      },
      { message: 'The service is not available.' },
    ),
  toolNames: ({ body }) =>
    (body.toolConfig?.tools ?? []).flatMap((tool: { toolSpec?: { name: string } }) =>
      tool.toolSpec ? [tool.toolSpec.name] : [],
    ),
  outputLimit: ({ body }) => body.inferenceConfig?.maxTokens,
  signatures: ({ body }) => valuesOf(body.messages, 'signature'),
};
