import { createCipheriv } from 'node:crypto';

/** Writes OTLP trace requests in protobuf for tests, independent of the product's own code and of the SDK. */
export type TestValue = string | number | boolean | TestValue[] | { [key: string]: TestValue };

export interface TestSpan {
  /** Hex; made from `name` if left out. '' leaves the field out. */
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  name: string;
  /** Nanoseconds since 1970. */
  start?: bigint;
  end?: bigint;
  /** Status ERROR with this message. */
  error?: string;
  attributes?: Record<string, TestValue | undefined>;
  /** Raw bytes of further fields. */
  unknown?: Buffer;
}
export interface TestResource {
  attributes?: Record<string, TestValue | undefined>;
  /** The resource field comes after the spans. */
  resourceLast?: boolean;
  unknown?: Buffer;
  scopes: { name?: string; spans: TestSpan[]; unknown?: Buffer }[];
}

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
};

/** A length-delimited field. */
export const lengthField = (number: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
};

const encodeValue = (value: TestValue): Buffer => {
  if (typeof value === 'string') return lengthField(1, value);
  if (typeof value === 'boolean') return Buffer.from([0x10, value ? 1 : 0]);
  if (typeof value === 'number') return Buffer.concat([Buffer.from([0x18]), varint(value)]);
  if (Array.isArray(value)) {
    return lengthField(5, Buffer.concat(value.map((one) => lengthField(1, encodeValue(one)))));
  }
  return lengthField(6, attributes(1, value));
};

const attributes = (number: number, given: Record<string, TestValue | undefined> = {}): Buffer =>
  Buffer.concat(
    Object.entries(given).map(([key, value]) =>
      value === undefined
        ? Buffer.alloc(0)
        : lengthField(number, Buffer.concat([lengthField(1, key), lengthField(2, encodeValue(value))])),
    ),
  );

const hash = (text: string, bytes: number): string => {
  let h = 0x811c9dc5;
  let hex = '';
  while (hex.length < bytes * 2) {
    for (const c of text) h = Math.imul(h ^ c.charCodeAt(0), 0x01000193) >>> 0;
    h = Math.imul(h ^ hex.length ^ 1, 0x01000193) >>> 0;
    hex += h.toString(16).padStart(8, '0');
  }
  return hex.slice(0, bytes * 2);
};

const fixed64 = (number: number, value: bigint | undefined): Buffer => {
  if (value === undefined) return Buffer.alloc(0);
  const bytes = Buffer.alloc(9, number * 8 + 1);
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
};

export const encodeSpan = (span: TestSpan): Buffer => {
  const id = (number: number, hex: string) =>
    hex === '' ? Buffer.alloc(0) : lengthField(number, Buffer.from(hex, 'hex'));
  return Buffer.concat([
    id(1, span.traceId ?? hash(`trace ${span.name}`, 16)),
    id(2, span.spanId ?? hash(`span ${span.name}`, 8)),
    id(4, span.parentSpanId ?? ''),
    lengthField(5, span.name),
    fixed64(7, span.start),
    fixed64(8, span.end),
    attributes(9, span.attributes),
    ...(span.error === undefined
      ? []
      : [lengthField(15, Buffer.concat([lengthField(2, span.error), Buffer.from([0x18, 2])]))]),
    span.unknown ?? Buffer.alloc(0),
  ]);
};

/** An ExportTraceServiceRequest. */
export const encodeRequest = (resources: TestResource[]): Buffer =>
  Buffer.concat(
    resources.map((one) => {
      const resource = lengthField(1, attributes(1, one.attributes));
      const scopes = one.scopes.map((scope) =>
        lengthField(
          2,
          Buffer.concat([
            lengthField(1, lengthField(1, scope.name ?? 'scope')),
            ...scope.spans.map((span) => lengthField(2, encodeSpan(span))),
            scope.unknown ?? Buffer.alloc(0),
          ]),
        ),
      );
      const parts = one.resourceLast ? [...scopes, resource] : [resource, ...scopes];
      return lengthField(1, Buffer.concat([...parts, one.unknown ?? Buffer.alloc(0)]));
    }),
  );

/**
 * Text that does not compress below three quarters of its size; the same for the same name, in every run. Fresh noise
 * would at times hold the three bytes that begin a gzip member, and a body that holds them is compressed again.
 */
const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  .update(Buffer.alloc(1_500_000))
  .toString('base64');
const noiseFor = (name: string, length: number): string => {
  const at = Number.parseInt(hash(name, 4), 16) % (noise.length - length);
  return noise.slice(at, at + length);
};

/**
 * A request with `count` spans `PREFIX-0`, `PREFIX-1`, …; of one agent if `agent` is set. `padding` is the length of
 * the text in each.
 */
export const spansNamed = (prefix: string, count: number, agentId?: string, padding = 0): Buffer =>
  encodeRequest([
    {
      attributes: agentId === undefined ? {} : { 'gen_ai.agent.id': agentId },
      scopes: [
        {
          spans: Array.from({ length: count }, (_, i) => ({
            name: `${prefix}-${i}`,
            ...(padding === 0 ? {} : { attributes: { padding: noiseFor(`${prefix}-${i}`, padding) } }),
          })),
        },
      ],
    },
  ]);
