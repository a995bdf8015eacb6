/**
 * Reads OTLP trace requests (opentelemetry-proto 1.x, trace_service.proto), protobuf and JSON. Independent of the
 * product's own scanner and of the SDK, so that neither is checked by itself. Unknown fields are ignored.
 */
export type AttributeValue =
  | string
  | boolean
  | number
  /** Integers that a number cannot hold exactly. */
  | bigint
  | Uint8Array
  | AttributeValue[]
  | Attributes
  | null;
export interface Attributes {
  [key: string]: AttributeValue;
}

export interface ReceivedSpan {
  resource: Attributes;
  scope: { name: string; version: string };
  /** Ids are lower-case hex; `parentSpanId` is '' for a root span. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  /** SpanKind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  startTimeUnixNano: bigint;
  endTimeUnixNano: bigint;
  attributes: Attributes;
  events: { name: string; timeUnixNano: bigint; attributes: Attributes }[];
  links: { traceId: string; spanId: string; attributes: Attributes }[];
  /** code: 0 unset, 1 ok, 2 error. */
  status: { code: number; message: string };
}

interface Field {
  number: number;
  /** Varints and fixed numbers, unsigned. */
  value: bigint;
  /** Length-delimited contents. */
  bytes: Uint8Array;
}

const none = new Uint8Array();
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The fields of one message, in order. Throws on truncation, groups and reserved wire types. */
function* fields(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('protobuf: a varint is cut off');
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new Error('protobuf: a varint is longer than 10 bytes');
  };
  const take = (length: number): number => {
    const start = at;
    at += length;
    if (at > message.length) throw new Error('protobuf: a field reaches beyond its message');
    return start;
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    if (number === 0) throw new Error('protobuf: field number 0');
    if (tag % 8 === 0) yield { number, value: varint(), bytes: none };
    else if (tag % 8 === 1) yield { number, value: view.getBigUint64(take(8), true), bytes: none };
    else if (tag % 8 === 5) yield { number, value: BigInt(view.getUint32(take(4), true)), bytes: none };
    else if (tag % 8 === 2) {
      const length = Number(varint());
      const start = take(length);
      yield { number, value: 0n, bytes: message.subarray(start, start + length) };
    } else throw new Error(`protobuf: wire type ${tag % 8} in field ${number}`);
  }
}

const text = (bytes: Uint8Array): string => utf8.decode(bytes);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const exact = (integer: bigint): number | bigint =>
  BigInt(Number(integer)) === integer && Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

function anyValue(message: Uint8Array): AttributeValue {
  let result: AttributeValue = null;
  for (const { number, value, bytes } of fields(message)) {
    if (number === 1) result = text(bytes);
    else if (number === 2) result = value !== 0n;
    else if (number === 3) result = exact(BigInt.asIntN(64, value));
    else if (number === 4) result = doubleOf(value);
    else if (number === 5)
      result = [...fields(bytes)].filter((f) => f.number === 1).map((f) => anyValue(f.bytes));
    else if (number === 6) result = keyValues(bytes, 1);
    else if (number === 7) result = bytes.slice();
  }
  return result;
}

/** The KeyValue fields with the given number in `message`, as one object. */
function keyValues(message: Uint8Array, numbered: number): Attributes {
  const result: Attributes = Object.create(null);
  for (const field of fields(message)) {
    if (field.number !== numbered) continue;
    let key = '';
    let value: AttributeValue = null;
    for (const part of fields(field.bytes)) {
      if (part.number === 1) key = text(part.bytes);
      else if (part.number === 2) value = anyValue(part.bytes);
    }
    result[key] = value;
  }
  return result;
}

function span(message: Uint8Array, resource: Attributes, scope: ReceivedSpan['scope']): ReceivedSpan {
  const result: ReceivedSpan = { ...empty(), resource, scope, attributes: keyValues(message, 9) };
  for (const { number, value, bytes } of fields(message)) {
    if (number === 1) result.traceId = hex(bytes);
    else if (number === 2) result.spanId = hex(bytes);
    else if (number === 3) result.traceState = text(bytes);
    else if (number === 4) result.parentSpanId = hex(bytes);
    else if (number === 5) result.name = text(bytes);
    else if (number === 6) result.kind = Number(value);
    else if (number === 7) result.startTimeUnixNano = value;
    else if (number === 8) result.endTimeUnixNano = value;
    else if (number === 11) {
      const event = { name: '', timeUnixNano: 0n, attributes: keyValues(bytes, 3) };
      for (const part of fields(bytes)) {
        if (part.number === 1) event.timeUnixNano = part.value;
        else if (part.number === 2) event.name = text(part.bytes);
      }
      result.events.push(event);
    } else if (number === 13) {
      const link = { traceId: '', spanId: '', attributes: keyValues(bytes, 4) };
      for (const part of fields(bytes)) {
        if (part.number === 1) link.traceId = hex(part.bytes);
        else if (part.number === 2) link.spanId = hex(part.bytes);
      }
      result.links.push(link);
    } else if (number === 15)
      for (const part of fields(bytes)) {
        if (part.number === 2) result.status.message = text(part.bytes);
        else if (part.number === 3) result.status.code = Number(part.value);
      }
  }
  return result;
}

const empty = (): ReceivedSpan => ({
  resource: {},
  scope: { name: '', version: '' },
  traceId: '',
  spanId: '',
  parentSpanId: '',
  traceState: '',
  name: '',
  kind: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  attributes: {},
  events: [],
  links: [],
  status: { code: 0, message: '' },
});

/** All spans of an ExportTraceServiceRequest in protobuf, in order. Throws if the message is malformed. */
export function decodeProtobuf(body: Uint8Array): ReceivedSpan[] {
  const spans: ReceivedSpan[] = [];
  for (const resourceSpans of fields(body)) {
    if (resourceSpans.number !== 1) continue;
    let resource: Attributes = {};
    for (const part of fields(resourceSpans.bytes))
      if (part.number === 1) resource = keyValues(part.bytes, 1);
    for (const scopeSpans of fields(resourceSpans.bytes)) {
      if (scopeSpans.number !== 2) continue;
      const scope = { name: '', version: '' };
      for (const part of fields(scopeSpans.bytes))
        if (part.number === 1)
          for (const own of fields(part.bytes)) {
            if (own.number === 1) scope.name = text(own.bytes);
            else if (own.number === 2) scope.version = text(own.bytes);
          }
      for (const part of fields(scopeSpans.bytes))
        if (part.number === 2) spans.push(span(part.bytes, resource, scope));
    }
  }
  return spans;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON from outside, read field by field below
type Json = any;

function jsonValue(value: Json): AttributeValue {
  if (!value) return null;
  if (value.stringValue !== undefined) return String(value.stringValue);
  if (value.boolValue !== undefined) return Boolean(value.boolValue);
  if (value.intValue !== undefined) return exact(BigInt(value.intValue));
  if (value.doubleValue !== undefined) return Number(value.doubleValue);
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(jsonValue);
  if (value.kvlistValue !== undefined) return jsonAttributes(value.kvlistValue.values);
  if (value.bytesValue !== undefined) return new Uint8Array(Buffer.from(value.bytesValue, 'base64'));
  return null;
}

function jsonAttributes(list: Json): Attributes {
  const result: Attributes = Object.create(null);
  for (const { key, value } of list ?? []) result[key] = jsonValue(value);
  return result;
}

/**
 * All spans of an ExportTraceServiceRequest in OTLP's JSON (ids in hex, enums as numbers). Throws if it is malformed.
 */
export function decodeJson(body: Uint8Array): ReceivedSpan[] {
  // Integers written as bare numbers keep their digits: a double would round them.
  const request: Json = JSON.parse(text(body), (_key, value, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source && /^-?\d{16,}$/.test(source) ? BigInt(source) : value,
  );
  return (request.resourceSpans ?? []).flatMap((resourceSpans: Json) =>
    (resourceSpans.scopeSpans ?? []).flatMap((scopeSpans: Json) =>
      (scopeSpans.spans ?? []).map(
        (own: Json): ReceivedSpan => ({
          resource: jsonAttributes(resourceSpans.resource?.attributes),
          scope: { name: scopeSpans.scope?.name ?? '', version: scopeSpans.scope?.version ?? '' },
          traceId: (own.traceId ?? '').toLowerCase(),
          spanId: (own.spanId ?? '').toLowerCase(),
          parentSpanId: (own.parentSpanId ?? '').toLowerCase(),
          traceState: own.traceState ?? '',
          name: own.name ?? '',
          kind: own.kind ?? 0,
          startTimeUnixNano: BigInt(own.startTimeUnixNano ?? 0),
          endTimeUnixNano: BigInt(own.endTimeUnixNano ?? 0),
          attributes: jsonAttributes(own.attributes),
          events: (own.events ?? []).map((event: Json) => ({
            name: event.name ?? '',
            timeUnixNano: BigInt(event.timeUnixNano ?? 0),
            attributes: jsonAttributes(event.attributes),
          })),
          links: (own.links ?? []).map((link: Json) => ({
            traceId: (link.traceId ?? '').toLowerCase(),
            spanId: (link.spanId ?? '').toLowerCase(),
            attributes: jsonAttributes(link.attributes),
          })),
          status: { code: own.status?.code ?? 0, message: own.status?.message ?? '' },
        }),
      ),
    ),
  );
}
