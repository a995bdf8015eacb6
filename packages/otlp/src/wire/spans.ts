import { WireReader } from './protobuf.ts';

/**
 * What is around a span: the fields of its ResourceSpans without scope_spans, and those of its ScopeSpans without spans,
 * unknown ones included. All spans of one ScopeSpans have the same object.
 */
export interface Around {
  resource: Buffer;
  scope: Buffer;
}

/** Returns the fields that `keep` does not name, joined, and where those begin and end that it names. */
const split = (r: WireReader, end: number, named: number): { rest: Buffer; children: [number, number][] } => {
  const parts: Buffer[] = [];
  const children: [number, number][] = [];
  let copyFrom = r.at;
  while (r.at < end) {
    const start = r.at;
    const tag = r.tag(end);
    if (tag !== named) {
      r.skipField(tag, end);
      continue;
    }
    const childEnd = r.fieldEnd(end);
    if (start > copyFrom) parts.push(r.buffer.subarray(copyFrom, start));
    if (!r.bad) children.push([r.at, childEnd]);
    copyFrom = childEnd;
    r.at = childEnd;
  }
  if (end > copyFrom) parts.push(r.buffer.subarray(copyFrom, end));
  return { rest: parts.length === 1 ? parts[0]! : Buffer.concat(parts), children };
};

/**
 * Calls `visit` with each span of a request, in order: its bytes are those from `from` up to `to`. Returns false if the
 * bytes are no request; some spans may have been visited then. Never throws unless `visit` does.
 */
export const eachSpan = (
  bytes: Buffer,
  visit: (from: number, to: number, around: Around) => void,
): boolean => {
  const r = new WireReader(bytes);
  while (r.at < bytes.length) {
    const tag = r.tag(bytes.length);
    if (tag !== 10) {
      r.skipField(tag, bytes.length);
      continue;
    }
    const end = r.fieldEnd(bytes.length);
    const { rest: resource, children: scopes } = split(r, end, 18);
    for (const [from, to] of scopes) {
      if (r.bad) return false;
      r.at = from;
      const { rest: scope, children: spans } = split(r, to, 18);
      if (r.bad) return false;
      const around = { resource, scope };
      for (const [spanFrom, spanTo] of spans) visit(spanFrom, spanTo, around);
    }
    if (r.bad) return false;
    r.at = end;
  }
  return !r.bad;
};

/** Spans of one request that have the same `around`. */
export interface SpansAround {
  around: Around;
  /** The request. */
  bytes: Buffer;
  /** Where each span begins and ends in it: two numbers for each, because an object for each would be slower. */
  ranges: number[];
}

const sizeOfVarint = (value: number): number => {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
};

/** Bytes of a length-delimited field of a number below 16. */
const sizeOfField = (length: number): number => 1 + sizeOfVarint(length) + length;

/** An ExportTraceServiceRequest of these spans, each with what is around it. */
export const joinSpans = (groups: readonly SpansAround[]): Buffer => {
  const scopeSizes = groups.map(({ around, ranges }) => {
    let size = around.scope.length;
    for (let i = 0; i < ranges.length; i += 2) size += sizeOfField(ranges[i + 1]! - ranges[i]!);
    return size;
  });
  const resourceSize = (k: number): number => groups[k]!.around.resource.length + sizeOfField(scopeSizes[k]!);
  // One buffer: a small one for each length would cost more than all else.
  const bytes = Buffer.allocUnsafe(groups.reduce((sum, _group, k) => sum + sizeOfField(resourceSize(k)), 0));
  let at = 0;
  const head = (tag: number, length: number): void => {
    bytes[at++] = tag;
    let rest = length;
    while (rest >= 0x80) {
      bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    bytes[at++] = rest;
  };
  const put = (part: Buffer): void => {
    bytes.set(part, at);
    at += part.length;
  };
  for (const [k, { around, bytes: from, ranges }] of groups.entries()) {
    head(10, resourceSize(k));
    put(around.resource);
    head(18, scopeSizes[k]!);
    put(around.scope);
    for (let i = 0; i < ranges.length; i += 2) {
      head(18, ranges[i + 1]! - ranges[i]!);
      at += from.copy(bytes, at, ranges[i], ranges[i + 1]);
    }
  }
  return bytes;
};
