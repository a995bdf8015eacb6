import { isUtf8 } from 'node:buffer';
import { parseExactJson } from './exact-json.ts';
import { BackwardWriter } from './json-writer.ts';
import { maxAttributeDepth } from './wire.ts';

/** The JSON is not an export request; the message says where and why. Not an Error: a stack costs too much. */
class InvalidExport {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const object = (value: unknown, where: string): Json => {
  if (isObject(value)) return value;
  throw new InvalidExport(`${where} must be an object`);
};

const list = (value: unknown, where: string): unknown[] => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new InvalidExport(`${where} must be an array`);
};

const text = (value: unknown, where: string): string => {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new InvalidExport(`${where} must be a string`);
};

const limits = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
} as const;

/** A 64- or 32-bit integer given as a number or as a decimal string. */
const integer = (value: unknown, type: keyof typeof limits, where: string): bigint => {
  if (value === undefined || value === null) return 0n;
  let exact: bigint | undefined;
  if (typeof value === 'bigint') exact = value;
  else if (typeof value === 'number' && Number.isInteger(value)) exact = BigInt(value);
  else if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) exact = BigInt(value);
  const [least, most] = limits[type];
  if (exact === undefined || exact < least || exact > most) {
    throw new InvalidExport(`${where} must be an integer (${type}), as a number or a string`);
  }
  return exact;
};

const double = (value: unknown, where: string): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value);
  throw new InvalidExport(`${where} must be a number`);
};

/** An enum: its number, as OTLP says, or its name, as other JSON mappings of protobuf write it. */
const enumeration = (value: unknown, names: readonly string[], where: string): bigint => {
  if (typeof value === 'string') {
    const index = names.indexOf(value);
    if (index >= 0) return BigInt(index);
  }
  return integer(value, 'uint32', where);
};

const spanKinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (name) => `SPAN_KIND_${name}`,
);
const statusCodes = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`);

/** Writes OTLP messages from their JSON form. Fields are written in reverse order, as the writer requires. */
class Converter {
  readonly w: BackwardWriter;

  constructor(sizeHint: number) {
    this.w = new BackwardWriter(sizeHint);
  }

  request(body: unknown): Buffer {
    this.#each(1, object(body, 'the body').resourceSpans, 'resourceSpans', (item) => {
      this.#text(3, item.schemaUrl, 'schemaUrl');
      this.#each(2, item.scopeSpans, 'scopeSpans', (scopeSpans) => this.#scopeSpans(scopeSpans));
      this.#message(1, item.resource, 'resource', (resource) => {
        this.#each(3, resource.entityRefs, 'entityRefs', (entity) => {
          this.#texts(4, entity.descriptionKeys, 'descriptionKeys');
          this.#texts(3, entity.idKeys, 'idKeys');
          this.#text(2, entity.type, 'type');
          this.#text(1, entity.schemaUrl, 'schemaUrl');
        });
        this.#uint32(2, resource.droppedAttributesCount, 'droppedAttributesCount');
        this.#attributes(1, resource.attributes);
      });
    });
    return this.w.finish();
  }

  #scopeSpans(item: Json): void {
    this.#text(3, item.schemaUrl, 'schemaUrl');
    this.#each(2, item.spans, 'spans', (span) => this.#span(span));
    this.#message(1, item.scope, 'scope', (scope) => {
      this.#uint32(4, scope.droppedAttributesCount, 'droppedAttributesCount');
      this.#attributes(3, scope.attributes);
      this.#text(2, scope.version, 'version');
      this.#text(1, scope.name, 'name');
    });
  }

  #span(span: Json): void {
    this.#fixed32(16, span.flags, 'flags');
    this.#message(15, span.status, 'status', (status) => {
      const code = enumeration(status.code, statusCodes, 'status.code');
      if (code !== 0n) this.w.varintField(3, code);
      this.#text(2, status.message, 'status.message');
    });
    this.#uint32(14, span.droppedLinksCount, 'droppedLinksCount');
    this.#each(13, span.links, 'links', (link) => {
      this.#fixed32(6, link.flags, 'flags');
      this.#uint32(5, link.droppedAttributesCount, 'droppedAttributesCount');
      this.#attributes(4, link.attributes);
      this.#text(3, link.traceState, 'traceState');
      this.#id(2, link.spanId, 'spanId');
      this.#id(1, link.traceId, 'traceId');
    });
    this.#uint32(12, span.droppedEventsCount, 'droppedEventsCount');
    this.#each(11, span.events, 'events', (event) => {
      this.#uint32(4, event.droppedAttributesCount, 'droppedAttributesCount');
      this.#attributes(3, event.attributes);
      this.#text(2, event.name, 'name');
      this.#fixed64(1, event.timeUnixNano, 'timeUnixNano');
    });
    this.#uint32(10, span.droppedAttributesCount, 'droppedAttributesCount');
    this.#attributes(9, span.attributes);
    this.#fixed64(8, span.endTimeUnixNano, 'endTimeUnixNano');
    this.#fixed64(7, span.startTimeUnixNano, 'startTimeUnixNano');
    const kind = enumeration(span.kind, spanKinds, 'kind');
    if (kind !== 0n) this.w.varintField(6, kind);
    this.#text(5, span.name, 'name');
    this.#id(4, span.parentSpanId, 'parentSpanId');
    this.#text(3, span.traceState, 'traceState');
    this.#id(2, span.spanId, 'spanId');
    this.#id(1, span.traceId, 'traceId');
  }

  #attributes(number: number, value: unknown, depth = 0): void {
    this.#each(number, value, 'attributes', (item) => this.#keyValue(item, depth));
  }

  #keyValue(item: Json, depth: number): void {
    this.#message(2, item.value, 'value', (value) => this.#anyValue(value, depth));
    this.#text(1, item.key, 'key');
  }

  #anyValue(value: Json, depth: number): void {
    // Reads one level more than is accepted, so that the scan refuses this span and not the whole request.
    if (depth > maxAttributeDepth) return;
    const { w } = this;
    // A oneof: an empty string or a false is written too.
    if (isSet(value.stringValue)) w.textField(1, text(value.stringValue, 'stringValue'));
    else if (isSet(value.boolValue)) {
      if (typeof value.boolValue !== 'boolean') throw new InvalidExport('boolValue must be true or false');
      w.varintField(2, value.boolValue ? 1n : 0n);
    } else if (isSet(value.intValue)) {
      const { intValue } = value;
      if (Number.isSafeInteger(intValue) && (intValue as number) >= 0) w.varintField(3, intValue as number);
      else w.varintField(3, BigInt.asUintN(64, integer(intValue, 'int64', 'intValue')));
    } else if (isSet(value.doubleValue)) w.doubleField(4, double(value.doubleValue, 'doubleValue'));
    else if (isSet(value.arrayValue)) {
      this.#message(5, value.arrayValue, 'arrayValue', (array) =>
        this.#each(1, array.values, 'values', (item) => this.#anyValue(item, depth + 1)),
      );
    } else if (isSet(value.kvlistValue)) {
      this.#message(6, value.kvlistValue, 'kvlistValue', (entries) =>
        this.#each(1, entries.values, 'values', (item) => this.#keyValue(item, depth + 1)),
      );
    } else if (isSet(value.bytesValue)) {
      const encoded = text(value.bytesValue, 'bytesValue');
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(encoded)) throw new InvalidExport('bytesValue must be base64');
      w.bytesField(7, Buffer.from(encoded, 'base64'));
    }
  }

  #each(number: number, value: unknown, where: string, write: (item: Json) => void): void {
    const items = list(value, where);
    for (let i = items.length - 1; i >= 0; i--) {
      const item = items[i];
      // A name is made only for what is wrong: made for each item, names cost more than the check.
      if (!isObject(item)) throw new InvalidExport(`${where}[${i}] must be an object`);
      const end = this.w.mark();
      write(item);
      this.w.endMessage(number, end);
    }
  }

  #message(number: number, value: unknown, where: string, write: (item: Json) => void): void {
    if (!isSet(value)) return;
    const end = this.w.mark();
    write(object(value, where));
    this.w.endMessage(number, end);
  }

  #text(number: number, value: unknown, where: string): void {
    const string = text(value, where);
    if (string !== '') this.w.textField(number, string);
  }

  #texts(number: number, value: unknown, where: string): void {
    const items = list(value, where);
    for (let i = items.length - 1; i >= 0; i--) this.w.textField(number, text(items[i], `${where}[${i}]`));
  }

  /** An id in hex, either case. One that is not hex is left out, so that the scan refuses only its span. */
  #id(number: number, value: unknown, where: string): void {
    const hex = text(value, where);
    if (hex !== '' && hex.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(hex)) {
      this.w.bytesField(number, Buffer.from(hex, 'hex'));
    }
  }

  #uint32(number: number, value: unknown, where: string): void {
    if (!isSet(value) || value === 0) return;
    const count = integer(value, 'uint32', where);
    if (count !== 0n) this.w.varintField(number, count);
  }

  #fixed32(number: number, value: unknown, where: string): void {
    if (!isSet(value) || value === 0) return;
    const bits = integer(value, 'uint32', where);
    if (bits !== 0n) this.w.fixed32Field(number, Number(bits));
  }

  #fixed64(number: number, value: unknown, where: string): void {
    const time = integer(value, 'uint64', where);
    if (time !== 0n) this.w.fixed64Field(number, time);
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * A body with more objects, arrays and commas is not parsed: `{},` takes 3 bytes of text and 60 of memory, and V8 ends
 * the process, not the thread, if its heap is full. The densest traces have one in 12 bytes, so 20 MiB fit.
 */
export const mostValues = 2_000_000;

const hasTooManyValues = (body: Buffer): boolean => {
  if (body.length <= mostValues) return false;
  let values = 0;
  let inText = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === 0x22) inText = !inText;
    else if (inText) {
      if (byte === 0x5c) i++;
    } else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values++;
  }
  return values > mostValues;
};

/** The text of a body, without a byte order mark; undefined if it is not UTF-8. */
const textOf = (body: Buffer): string | undefined => {
  // Both pass over the bytes with SIMD: a third of the time that TextDecoder takes.
  if (!isUtf8(body)) return undefined;
  const decoded = body.toString();
  return decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded;
};

/**
 * Converts OTLP/JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) to protobuf: hex ids, exact
 * 64-bit integers, unknown fields ignored. Returns the reason instead if it is not an export request.
 */
export const fromJson = (body: Buffer): Buffer | { error: string } => {
  const notJson = { error: 'the body is not valid JSON in UTF-8' };
  if (hasTooManyValues(body)) return { error: `the body holds more than ${mostValues} values` };
  const decoded = textOf(body);
  if (decoded === undefined) return notJson;
  let parsed: unknown;
  try {
    parsed = parseExactJson(decoded);
  } catch {
    return notJson;
  }
  try {
    return new Converter(body.length).request(parsed);
  } catch (error) {
    if (error instanceof InvalidExport) return { error: error.message };
    throw error;
  }
};
