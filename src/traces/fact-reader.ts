import { WireReader } from '@agent-platform/otlp';
import {
  content,
  type Found,
  interpret,
  isSame,
  type Key,
  keyIn,
  type ResourceFacts,
  type SpanFacts,
  shown,
  textOf,
  type Value,
} from './facts.ts';

/** The 64 bits of a span id and the last 64 of a trace id, as four numbers. */
export type SpanKey = Uint32Array;

/**
 * Reads spans for their facts, without decoding the rest. One for each use: it holds a position. `withIds`: also the ids
 * of spans and parents; without it they are '', and the parent's is only said to be there ('-').
 */
export class FactReader {
  /** Of the span that was read last. */
  readonly key: SpanKey = new Uint32Array(4);
  readonly #withIds: boolean;
  #r = new WireReader(Buffer.alloc(0));
  #found: Found = {};
  #hasContent = false;
  #traceBytes = Buffer.alloc(16);
  #traceId = '';

  constructor({ withIds }: { withIds: boolean }) {
    this.#withIds = withIds;
  }

  /** The facts of the span in `bytes` from `from` up to `to`, which `eachSpan` found. Never throws. */
  span(bytes: Buffer, from: number, to: number, resource: ResourceFacts): SpanFacts {
    const r = this.#at(bytes, from);
    const facts: SpanFacts = {
      traceId: '',
      spanId: '',
      parentSpanId: '',
      name: '',
      kind: 0,
      startUs: 0,
      endUs: 0,
      failed: false,
      errorType: null,
      type: 'other',
      agentId: null,
      agentName: null,
      model: null,
      tool: null,
      tokens: null,
      costNanoUsd: null,
      workItemId: null,
      conversationId: null,
      hasContent: false,
      events: 0,
    };
    let exception: string | null = null;
    while (r.at < to) {
      const tag = r.tag(to);
      if (tag === 74) this.#attribute(r.fieldEnd(to));
      else if (tag === 10) facts.traceId = this.#trace(r.fieldEnd(to));
      else if (tag === 18) facts.spanId = this.#span(r.fieldEnd(to));
      else if (tag === 34) facts.parentSpanId = this.#parent(r.fieldEnd(to));
      else if (tag === 42) facts.name = shown(this.#text(r.fieldEnd(to)));
      else if (tag === 48) facts.kind = r.varint64(to);
      else if (tag === 57) facts.startUs = this.#microseconds(to);
      else if (tag === 65) facts.endUs = this.#microseconds(to);
      else if (tag === 90) {
        facts.events++;
        exception = this.#exceptionIn(r.fieldEnd(to)) ?? exception;
      } else if (tag === 122) facts.failed = this.#isError(r.fieldEnd(to)) || facts.failed;
      else r.skipField(tag, to);
    }
    // A time that is missing is that of the other end: 1970 would make the span half a century long.
    facts.startUs ||= facts.endUs;
    facts.endUs = Math.max(facts.startUs, facts.endUs);
    facts.hasContent = this.#hasContent;
    interpret(facts, this.#found, resource);
    if (facts.failed) facts.errorType ??= exception;
    return facts;
  }

  /** The facts of the resource in the fields of a ResourceSpans (`Around`). Never throws. */
  resource(fields: Buffer): ResourceFacts {
    const r = this.#at(fields, 0);
    while (r.at < fields.length) {
      const tag = r.tag(fields.length);
      if (tag !== 10) {
        r.skipField(tag, fields.length);
        continue;
      }
      const end = r.fieldEnd(fields.length);
      while (r.at < end) {
        const inner = r.tag(end);
        if (inner === 10) this.#attribute(r.fieldEnd(end));
        else r.skipField(inner, end);
      }
    }
    return {
      service: textOf(this.#found['service.name']),
      agentId: textOf(this.#found['gen_ai.agent.id']),
    };
  }

  #at(bytes: Buffer, from: number): WireReader {
    if (this.#r.buffer !== bytes || this.#r.bad) this.#r = new WireReader(bytes);
    this.#r.at = from;
    this.#found = {};
    this.#hasContent = false;
    return this.#r;
  }

  #text(end: number): string {
    const text = this.#r.buffer.toString('utf8', this.#r.at, end);
    this.#r.at = end;
    return text;
  }

  /** Spans of one trace come together as a rule: its id is made once. */
  #trace(end: number): string {
    const r = this.#r;
    const { at } = r;
    if (end - at === 16) {
      this.key[2] = r.buffer.readUInt32LE(at + 8);
      this.key[3] = r.buffer.readUInt32LE(at + 12);
      if (this.#traceId !== '' && isSame(r.buffer, at, this.#traceBytes)) {
        r.at = end;
        return this.#traceId;
      }
      r.buffer.copy(this.#traceBytes, 0, at, end);
    }
    this.#traceId = this.#hex(end);
    return this.#traceId;
  }

  #span(end: number): string {
    const r = this.#r;
    if (end - r.at === 8) {
      this.key[0] = r.buffer.readUInt32LE(r.at);
      this.key[1] = r.buffer.readUInt32LE(r.at + 4);
    }
    if (this.#withIds) return this.#hex(end);
    r.at = end;
    return '';
  }

  #parent(end: number): string {
    const r = this.#r;
    if (this.#withIds) return this.#hex(end);
    const id = end > r.at ? '-' : '';
    r.at = end;
    return id;
  }

  #hex(end: number): string {
    const text = this.#r.buffer.toString('hex', this.#r.at, end);
    this.#r.at = end;
    return text;
  }

  /** A fixed64 of nanoseconds, to the microsecond below: exact up to the year 2255, to 2 µs after it. */
  #microseconds(end: number): number {
    const r = this.#r;
    if (r.at + 8 > end) {
      r.fail();
      return 0;
    }
    const low = r.buffer.readUInt32LE(r.at);
    const high = r.buffer.readUInt32LE(r.at + 4);
    r.at += 8;
    // 2^32 is 4,294,967 × 1,000 + 296.
    return high * 4_294_967 + Math.floor((high * 296 + low) / 1_000);
  }

  #isError(end: number): boolean {
    const r = this.#r;
    let code = 0;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 24) code = r.varint64(end);
      else r.skipField(tag, end);
    }
    return code === 2;
  }

  /** The `exception.type` of an event. */
  #exceptionIn(end: number): string | null {
    const r = this.#r;
    const outer = this.#found;
    this.#found = {};
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 26) this.#attribute(r.fieldEnd(end));
      else r.skipField(tag, end);
    }
    const type = textOf(this.#found['exception.type']);
    this.#found = outer;
    return type;
  }

  #attribute(end: number): void {
    const r = this.#r;
    const { buffer } = r;
    let key: Key | undefined;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) {
        const keyEnd = r.fieldEnd(end);
        key = keyIn(buffer, r.at, keyEnd);
        r.at = keyEnd;
        // Keys come first: the value of one that no one wants need not be walked.
        if (key === undefined && !r.bad) {
          r.at = end;
          return;
        }
      } else if (tag === 18 && key !== undefined) {
        const valueEnd = r.fieldEnd(end);
        if (content.has(key)) {
          this.#hasContent ||= valueEnd > r.at;
          r.at = valueEnd;
        } else this.#found[key] = this.#value(valueEnd);
      } else r.skipField(tag, end);
    }
  }

  /** The text or the number of an AnyValue; null for another kind. */
  #value(end: number): Value {
    const r = this.#r;
    let value: Value = null;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) value = this.#text(r.fieldEnd(end));
      else if (tag === 24) value = r.varint64(end);
      else if (tag === 33) {
        if (r.at + 8 > end) r.fail();
        else {
          value = r.buffer.readDoubleLE(r.at);
          r.at += 8;
        }
      } else {
        r.skipField(tag, end);
        value = null;
      }
    }
    return value;
  }
}
