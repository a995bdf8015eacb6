import { WireReader } from './protobuf.ts';
import { maxAttributeDepth } from './wire.ts';

/**
 * A value of an attribute as JSON: an integer beyond 2^53 is its digits as text, bytes are base64, and NaN and the
 * infinities are their names.
 */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonAttributes;
export interface JsonAttributes {
  [key: string]: JsonValue;
}

export interface DecodedSpan {
  /** Ids are lower-case hex; the parent's is '' if there is none. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  /** SpanKind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer, 0 unspecified. */
  kind: number;
  startTimeUnixNano: bigint;
  endTimeUnixNano: bigint;
  attributes: JsonAttributes;
  events: { name: string; timeUnixNano: bigint; attributes: JsonAttributes }[];
  links: { traceId: string; spanId: string; attributes: JsonAttributes }[];
  /** code: 0 unset, 1 ok, 2 error. */
  status: { code: number; message: string };
}

/** Keys come from outside: `__proto__` is one like any other. */
const noAttributes = (): JsonAttributes => Object.create(null);

const double = (value: number): number | string => (Number.isFinite(value) ? value : String(value));

class Decoder {
  readonly r: WireReader;
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.r = new WireReader(bytes);
    this.bytes = bytes;
  }

  text(end: number): string {
    const text = this.bytes.toString('utf8', this.r.at, end);
    this.r.at = end;
    return text;
  }

  hex(end: number): string {
    const text = this.bytes.toString('hex', this.r.at, end);
    this.r.at = end;
    return text;
  }

  fixed64(end: number): bigint {
    const { r } = this;
    if (r.at + 8 > end) {
      r.fail();
      return 0n;
    }
    const value = this.bytes.readBigUInt64LE(r.at);
    r.at += 8;
    return value;
  }

  int64(end: number): number | string {
    const { r } = this;
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (r.at >= end) {
        r.fail();
        return 0;
      }
      const byte = this.bytes[r.at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const signed = BigInt.asIntN(64, value);
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : String(signed);
  }

  /** An AnyValue: the last of its fields counts. */
  anyValue(end: number, depth: number): JsonValue {
    const { r } = this;
    let value: JsonValue = null;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) value = this.text(r.fieldEnd(end));
      else if (tag === 16) value = r.varint64(end) !== 0;
      else if (tag === 24) value = this.int64(end);
      else if (tag === 33) {
        const at = r.at;
        this.fixed64(end);
        if (!r.bad) value = double(this.bytes.readDoubleLE(at));
      } else if (tag === 42) value = this.list(r.fieldEnd(end), depth + 1);
      else if (tag === 50) value = this.attributes(1, r.fieldEnd(end), depth + 1);
      else if (tag === 58) {
        const to = r.fieldEnd(end);
        value = this.bytes.toString('base64', r.at, to);
        r.at = to;
      } else r.skipField(tag, end);
    }
    return value;
  }

  list(end: number, depth: number): JsonValue {
    const { r } = this;
    const values: JsonValue[] = [];
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag !== 10 || depth > maxAttributeDepth) r.skipField(tag, end);
      else values.push(this.anyValue(r.fieldEnd(end), depth));
    }
    return values;
  }

  /** The KeyValue fields with this number of a message, into `into`. */
  attributes(number: number, end: number, depth = 0, into = noAttributes()): JsonAttributes {
    const { r } = this;
    const named = number * 8 + 2;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag !== named || depth > maxAttributeDepth) r.skipField(tag, end);
      else this.keyValue(r.fieldEnd(end), depth, into);
    }
    return into;
  }

  keyValue(end: number, depth: number, into: JsonAttributes): void {
    const { r } = this;
    let key = '';
    let value: JsonValue = null;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) key = this.text(r.fieldEnd(end));
      else if (tag === 18) value = this.anyValue(r.fieldEnd(end), depth);
      else r.skipField(tag, end);
    }
    into[key] = value;
  }

  event(end: number): DecodedSpan['events'][number] {
    const { r } = this;
    const event = { name: '', timeUnixNano: 0n, attributes: noAttributes() };
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 9) event.timeUnixNano = this.fixed64(end);
      else if (tag === 18) event.name = this.text(r.fieldEnd(end));
      else if (tag === 26) this.keyValue(r.fieldEnd(end), 0, event.attributes);
      else r.skipField(tag, end);
    }
    return event;
  }

  link(end: number): DecodedSpan['links'][number] {
    const { r } = this;
    const link = { traceId: '', spanId: '', attributes: noAttributes() };
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) link.traceId = this.hex(r.fieldEnd(end));
      else if (tag === 18) link.spanId = this.hex(r.fieldEnd(end));
      else if (tag === 34) this.keyValue(r.fieldEnd(end), 0, link.attributes);
      else r.skipField(tag, end);
    }
    return link;
  }

  status(end: number, status: DecodedSpan['status']): void {
    const { r } = this;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 18) status.message = this.text(r.fieldEnd(end));
      else if (tag === 24) status.code = r.varint64(end);
      else r.skipField(tag, end);
    }
  }
}

/** Decodes the bytes of one span (opentelemetry.proto.trace.v1.Span). What is malformed is left out. Never throws. */
export const decodeSpan = (bytes: Buffer): DecodedSpan => {
  const d = new Decoder(bytes);
  const { r } = d;
  const end = bytes.length;
  const span: DecodedSpan = {
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    name: '',
    kind: 0,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 0n,
    attributes: noAttributes(),
    events: [],
    links: [],
    status: { code: 0, message: '' },
  };
  while (r.at < end) {
    const tag = r.tag(end);
    if (tag === 10) span.traceId = d.hex(r.fieldEnd(end));
    else if (tag === 18) span.spanId = d.hex(r.fieldEnd(end));
    else if (tag === 26) span.traceState = d.text(r.fieldEnd(end));
    else if (tag === 34) span.parentSpanId = d.hex(r.fieldEnd(end));
    else if (tag === 42) span.name = d.text(r.fieldEnd(end));
    else if (tag === 48) span.kind = r.varint64(end);
    else if (tag === 57) span.startTimeUnixNano = d.fixed64(end);
    else if (tag === 65) span.endTimeUnixNano = d.fixed64(end);
    else if (tag === 74) d.keyValue(r.fieldEnd(end), 0, span.attributes);
    else if (tag === 90) span.events.push(d.event(r.fieldEnd(end)));
    else if (tag === 106) span.links.push(d.link(r.fieldEnd(end)));
    else if (tag === 122) d.status(r.fieldEnd(end), span.status);
    else r.skipField(tag, end);
  }
  return span;
};

/** Decodes the attributes of a resource, from the fields of its ResourceSpans (`Around`). Never throws. */
export const decodeResource = (fields: Buffer): JsonAttributes => {
  const d = new Decoder(fields);
  const attributes = noAttributes();
  while (d.r.at < fields.length) {
    const tag = d.r.tag(fields.length);
    if (tag === 10) d.attributes(1, d.r.fieldEnd(fields.length), 0, attributes);
    else d.r.skipField(tag, fields.length);
  }
  return attributes;
};

export interface DecodedScope {
  name: string;
  version: string;
  attributes: JsonAttributes;
}

/** Decodes a scope, from the fields of its ScopeSpans (`Around`). Never throws. */
export const decodeScope = (fields: Buffer): DecodedScope => {
  const d = new Decoder(fields);
  const { r } = d;
  const scope: DecodedScope = { name: '', version: '', attributes: noAttributes() };
  while (r.at < fields.length) {
    const tag = r.tag(fields.length);
    if (tag !== 10) {
      r.skipField(tag, fields.length);
      continue;
    }
    const end = r.fieldEnd(fields.length);
    while (r.at < end) {
      const inner = r.tag(end);
      if (inner === 10) scope.name = d.text(r.fieldEnd(end));
      else if (inner === 18) scope.version = d.text(r.fieldEnd(end));
      else if (inner === 26) d.keyValue(r.fieldEnd(end), 0, scope.attributes);
      else r.skipField(inner, end);
    }
  }
  return scope;
};
