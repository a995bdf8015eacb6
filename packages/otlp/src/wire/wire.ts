import { varint, WireReader } from './protobuf.ts';

/**
 * Facts about an ExportTraceServiceRequest that routing needs, read from its bytes without decoding it: request {1:
 * resource_spans {1: resource {1: attributes}, 2: scope_spans {2: spans}}} of opentelemetry/proto/collector/trace/v1
 * (1.x).
 */
export interface Scan {
  /** Spans in the request, the refused ones among them. */
  spans: number;
  rejected: number;
  /** Reason why the first rejected span was refused; empty if none was. */
  rejection: string;
  /** The distinct agents; null means that no agent is named. */
  agents: readonly (string | null)[];
  /** For each span, in order: the index of its agent in `agents`, or -1 for one that is refused. */
  agentOf: readonly number[];
}

const agentKey = Buffer.from('gen_ai.agent.id');
/** Arrays and maps in an attribute nest no deeper; parsers of backends give up at 100 messages. */
export const maxAttributeDepth = 64;

/**
 * A request with more spans is refused: 20 MiB hold no more valid ones (30 bytes of ids each), but ten million empty
 * ones, which compress to 20 KB and would block all other requests for a second.
 */
export const mostSpans = 1_000_000;

const noAgent = 0;
/** There was no attribute of that name. */
const absent = -1;

class Scanner {
  readonly reader: WireReader;
  readonly agents: (string | null)[] = [null];
  readonly agentOf: number[] = [];
  readonly #index = new Map<string, number>();
  rejected = 0;
  rejection = '';
  #tooDeep = false;
  #resourceTooDeep = false;

  constructor(bytes: Buffer) {
    this.reader = new WireReader(bytes);
  }

  request(): void {
    const r = this.reader;
    const end = r.buffer.length;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) this.#resourceSpans(r.fieldEnd(end));
      else r.skipField(tag, end);
    }
  }

  #resourceSpans(end: number): void {
    const r = this.reader;
    const start = r.at;
    this.#tooDeep = false;
    // The resource may come after its spans.
    let agent = absent;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) agent = this.#attributes(1, r.fieldEnd(end), agent);
      else r.skipField(tag, end);
    }
    if (r.bad) return;
    r.at = start;
    this.#resourceTooDeep = this.#tooDeep;
    const resourceAgent = agent === absent ? noAgent : agent;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 18) this.#scopeSpans(r.fieldEnd(end), resourceAgent);
      else r.skipField(tag, end);
    }
  }

  #scopeSpans(end: number, resourceAgent: number): void {
    const r = this.reader;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 18) this.#span(r.fieldEnd(end), resourceAgent);
      else r.skipField(tag, end);
    }
  }

  #span(end: number, resourceAgent: number): void {
    const r = this.reader;
    if (this.agentOf.length === mostSpans) {
      r.fail();
      return;
    }
    let agent = absent;
    let traceId = false;
    let spanId = false;
    this.#tooDeep = this.#resourceTooDeep;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) traceId = this.#id(r.fieldEnd(end), 16);
      else if (tag === 18) spanId = this.#id(r.fieldEnd(end), 8);
      else if (tag === 74) agent = this.#keyValue(r.fieldEnd(end), agent);
      // Only the nesting of events and links matters.
      else if (tag === 90) this.#attributes(3, r.fieldEnd(end), absent);
      else if (tag === 106) this.#attributes(4, r.fieldEnd(end), absent);
      else r.skipField(tag, end);
    }
    if (traceId && spanId && !this.#tooDeep) {
      this.agentOf.push(agent === absent ? resourceAgent : agent);
      return;
    }
    this.agentOf.push(-1);
    this.rejected++;
    this.rejection ||= !traceId
      ? 'a trace_id must have 16 bytes that are not all zero'
      : !spanId
        ? 'a span_id must have 8 bytes that are not all zero'
        : `attributes must not nest deeper than ${maxAttributeDepth}`;
  }

  #id(end: number, length: number): boolean {
    const r = this.reader;
    let valid = false;
    if (end - r.at === length) {
      for (let i = r.at; i < end && !valid; i++) valid = r.buffer[i] !== 0;
    }
    r.at = end;
    return valid;
  }

  /** A message whose field `number` holds attributes. Returns the agent that they name, otherwise `agent`. */
  #attributes(number: number, end: number, agent: number): number {
    const r = this.reader;
    const attributeTag = number * 8 + 2;
    let named = agent;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === attributeTag) named = this.#keyValue(r.fieldEnd(end), named);
      else r.skipField(tag, end);
    }
    return named;
  }

  /** An attribute. Returns the agent that it names, `noAgent` for an empty or non-string one, otherwise `agent`. */
  #keyValue(end: number, agent: number): number {
    const r = this.reader;
    let isAgent = false;
    let valueStart = 0;
    let valueEnd = 0;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) {
        const keyEnd = r.fieldEnd(end);
        isAgent =
          keyEnd - r.at === agentKey.length &&
          r.buffer[keyEnd - 1] === 0x64 &&
          r.buffer.compare(agentKey, 0, agentKey.length, r.at, keyEnd) === 0;
        r.at = keyEnd;
      } else if (tag === 18) {
        valueEnd = r.fieldEnd(end);
        valueStart = r.at;
        this.#anyValue(valueEnd, 0);
      } else r.skipField(tag, end);
    }
    return isAgent && !r.bad ? this.#agentIn(valueStart, valueEnd) : agent;
  }

  /** The agent that an AnyValue names: its string_value, if that is the last of its fields. */
  #agentIn(start: number, end: number): number {
    const r = this.reader;
    const back = r.at;
    let from = 0;
    let to = 0;
    r.at = start;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 10) {
        to = r.fieldEnd(end);
        from = r.at;
        r.at = to;
      } else {
        r.skipField(tag, end);
        if (tag >>> 3 <= 7) to = from;
      }
    }
    r.at = r.bad ? r.at : back;
    if (to === from) return noAgent;
    const id = r.buffer.toString('utf8', from, to);
    let index = this.#index.get(id);
    if (index === undefined) {
      index = this.agents.push(id) - 1;
      this.#index.set(id, index);
    }
    return index;
  }

  /** Walks an AnyValue for its nesting: {1: string, …, 5: array {1: values}, 6: kvlist {1: {2: value}}}. */
  #anyValue(end: number, depth: number): void {
    const r = this.reader;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag !== 42 && tag !== 50) {
        r.skipField(tag, end);
        continue;
      }
      const listEnd = r.fieldEnd(end);
      if (depth >= maxAttributeDepth) {
        this.#tooDeep = true;
        r.at = r.bad ? r.at : listEnd;
        continue;
      }
      while (r.at < listEnd) {
        const inner = r.tag(listEnd);
        if (inner !== 10) r.skipField(inner, listEnd);
        else if (tag === 42) this.#anyValue(r.fieldEnd(listEnd), depth + 1);
        else this.#entry(r.fieldEnd(listEnd), depth + 1);
      }
    }
  }

  #entry(end: number, depth: number): void {
    const r = this.reader;
    while (r.at < end) {
      const tag = r.tag(end);
      if (tag === 18) this.#anyValue(r.fieldEnd(end), depth);
      else r.skipField(tag, end);
    }
  }
}

/** Scans a request; null if its bytes are not one. Never throws. */
export const scan = (bytes: Buffer): Scan | null => {
  const scanner = new Scanner(bytes);
  scanner.request();
  if (scanner.reader.bad) return null;
  const { agents, agentOf, rejected, rejection } = scanner;
  return { spans: agentOf.length, rejected, rejection, agents, agentOf };
};

interface Selection {
  parts: Buffer[];
  size: number;
  /** Number of spans that are kept; a message without any is left out. */
  kept: number;
}

/**
 * The request with only the spans that `keep` selects (by their order). Unknown fields and all that surrounds the spans
 * stay as they are; resources and scopes that lose all their spans are left out. The bytes must be a request that
 * `scan` accepted.
 */
export const selectSpans = (bytes: Buffer, keep: (span: number) => boolean): Buffer => {
  const r = new WireReader(bytes);
  let span = 0;
  // Levels: 0 request (children are field 1), 1 resource_spans and 2 scope_spans (field 2); the children of 2 are
  // spans.
  const walk = (end: number, level: number): Selection => {
    const childTag = level === 0 ? 10 : 18;
    const parts: Buffer[] = [];
    let size = 0;
    let kept = 0;
    let copyFrom = r.at;
    const copyUpTo = (to: number): void => {
      if (to === copyFrom) return;
      parts.push(bytes.subarray(copyFrom, to));
      size += to - copyFrom;
    };
    while (r.at < end) {
      const fieldStart = r.at;
      const tag = r.tag(end);
      if (tag !== childTag) {
        r.skipField(tag, end);
        continue;
      }
      const childEnd = r.fieldEnd(end);
      if (level === 2) {
        r.at = childEnd;
        if (keep(span++)) kept++;
        else {
          copyUpTo(fieldStart);
          copyFrom = childEnd;
        }
        continue;
      }
      copyUpTo(fieldStart);
      copyFrom = childEnd;
      const child = walk(childEnd, level + 1);
      if (child.kept === 0) continue;
      const head = Buffer.concat([varint(tag), varint(child.size)]);
      parts.push(head, ...child.parts);
      size += head.length + child.size;
      kept += child.kept;
    }
    copyUpTo(end);
    return { parts, size, kept };
  };
  return Buffer.concat(walk(bytes.length, 0).parts);
};

/** The spans from `from` up to but not including `to`, as a request of their own. */
export const takeSpans = (bytes: Buffer, from: number, to: number): Buffer =>
  selectSpans(bytes, (span) => span >= from && span < to);
