import { type Around, decodeResource, decodeScope, decodeSpan, eachSpan } from '@agent-platform/otlp';
import type { z } from 'zod';
import type { Database } from '../database/index.ts';
import { unpackBlock } from './blocks.ts';
import { FactReader } from './fact-reader.ts';
import type { ResourceFacts, SpanFacts } from './facts.ts';
import { addFacts, emptyPiece, type TracePiece } from './pieces.ts';
import { readBlocks, type TraceRow } from './read-store.ts';
import type { spanDetail, traceSpan } from './schemas.ts';
import { dateOf } from './summary.ts';

/** Blocks that are in memory at once: 4 MB of spans. */
const blocksAtOnce = 16;
/** Spans of one trace that are shown at most. */
const mostSpans = 100_000;

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/** One span of a trace, where its bytes are. */
interface Seen {
  facts: SpanFacts;
  service: string | null;
  bytes: Buffer;
  from: number;
  to: number;
  around: Around;
}

/** Calls `visit` with each span of a trace, in the order in which they came, until it returns true. */
const eachSpanOf = async (
  db: Database,
  rows: readonly TraceRow[],
  visit: (span: Seen) => boolean,
): Promise<void> => {
  const reader = new FactReader({ withIds: true });
  for (const { part, blocks, trace_id: traceId } of rows) {
    const id = Buffer.from(traceId, 'hex');
    // The id is the first field of a span as a rule.
    const isOther = (bytes: Buffer, from: number): boolean =>
      bytes[from] === 10 && bytes[from + 1] === 16 && bytes.compare(id, 0, 16, from + 2, from + 18) !== 0;
    for (let i = 0; i < blocks.length; i += blocksAtOnce) {
      const contents = await db.run((executor) =>
        readBlocks(executor, part, blocks.slice(i, i + blocksAtOnce)),
      );
      for (const content of contents) {
        const bytes = await unpackBlock(content);
        let around: Around | null = null;
        let resource: ResourceFacts = { service: null, agentId: null };
        let done = false;
        eachSpan(bytes, (from, to, of) => {
          if (done || isOther(bytes, from)) return;
          if (of !== around) {
            around = of;
            resource = reader.resource(of.resource);
          }
          const facts = reader.span(bytes, from, to, resource);
          if (facts.traceId !== traceId) return;
          done = visit({ facts, service: resource.service, bytes, from, to, around: of });
        });
        if (done) return;
      }
    }
  }
};

const toSpan = (facts: SpanFacts, startUs: number): z.input<typeof traceSpan> => ({
  span_id: facts.spanId,
  parent_span_id: facts.parentSpanId === '' ? null : facts.parentSpanId,
  name: facts.name,
  kind: kinds[facts.kind] ?? 'unspecified',
  type: facts.type,
  offset_us: facts.startUs - startUs,
  duration_us: facts.endUs - facts.startUs,
  status: facts.failed ? 'error' : 'ok',
  error_type: facts.errorType,
  model: facts.model,
  tokens: facts.tokens,
  cost_nano_usd: facts.costNanoUsd,
  has_content: facts.hasContent,
  event_count: facts.events,
});

/** A trace as it is in the blocks. */
export interface WholeTrace {
  piece: TracePiece;
  /** By their start; a span that came twice is there once. */
  spans: z.input<typeof traceSpan>[];
  missingParents: string[];
}

/** Reads all spans of a trace. `rows`: its rows, the oldest part first. Null if none of its blocks is there any more. */
export const readTrace = async (db: Database, rows: readonly TraceRow[]): Promise<WholeTrace | null> => {
  const facts = new Map<string, SpanFacts>();
  let piece: TracePiece | null = null;
  await eachSpanOf(db, rows, ({ facts: one, service }) => {
    if (facts.has(one.spanId)) return false;
    facts.set(one.spanId, one);
    piece ??= emptyPiece(one);
    addFacts(piece, one, service);
    return facts.size >= mostSpans;
  });
  if (piece === null) return null;
  const { startUs } = piece as TracePiece;
  const missing = new Set<string>();
  for (const { parentSpanId } of facts.values()) {
    if (parentSpanId !== '' && !facts.has(parentSpanId)) missing.add(parentSpanId);
  }
  const sorted = [...facts.values()].sort(
    (a, b) => a.startUs - b.startUs || b.endUs - a.endUs || (a.spanId < b.spanId ? -1 : 1),
  );
  return { piece, spans: sorted.map((one) => toSpan(one, startUs)), missingParents: [...missing] };
};

const nanoDate = (nanoseconds: bigint): Date => new Date(Number(nanoseconds / 1_000_000n));

/** Reads one span of a trace with all that it has, but for its step; null if it is not there. */
export const readSpan = async (
  db: Database,
  rows: readonly TraceRow[],
  spanId: string,
): Promise<Omit<z.input<typeof spanDetail>, 'step'> | null> => {
  let found: Seen | null = null;
  await eachSpanOf(db, rows, (span) => {
    if (span.facts.spanId !== spanId) return false;
    found = span;
    return true;
  });
  if (found === null) return null;
  const { facts, bytes, from, to, around } = found as Seen;
  const span = decodeSpan(bytes.subarray(from, to));
  const startUs = Math.min(...rows.map((row) => row.start_us));
  return {
    trace_id: facts.traceId,
    ...toSpan(facts, startUs),
    started_at: dateOf(facts.startUs),
    status_message: span.status.message,
    trace_state: span.traceState,
    attributes: span.attributes,
    events: span.events.map(({ name, timeUnixNano, attributes }) => ({
      name,
      at: nanoDate(timeUnixNano),
      offset_us: Number(timeUnixNano / 1_000n) - startUs,
      attributes,
    })),
    links: span.links.map(({ traceId, spanId, attributes }) => ({
      trace_id: traceId,
      span_id: spanId,
      attributes,
    })),
    resource: decodeResource(around.resource),
    scope: decodeScope(around.scope),
  };
};
