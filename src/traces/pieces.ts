import { type Around, eachSpan, type SpansAround } from '@agent-platform/otlp';
import { isId } from '../lib/ids.ts';
import { FactReader, type SpanKey } from './fact-reader.ts';
import type { ResourceFacts, SpanFacts } from './facts.ts';

/** Spans of one trace that came together, and what its row in the list gets from them. */
export interface TracePiece {
  traceId: string;
  startUs: number;
  endUs: number;
  rooted: boolean;
  name: string;
  service: string | null;
  agentId: string | null;
  agentName: string | null;
  spanCount: number;
  failedSpans: number;
  modelTokens: number | null;
  agentTokens: number | null;
  modelCostNanoUsd: number | null;
  agentCostNanoUsd: number | null;
  terms: Set<string>;
  workItemId: string | null;
  conversationId: string | null;
  spans: SpansAround[];
  /** When the span began that the name is of, and the one that the agent is of. */
  namedUs: number;
  agentUs: number;
}

/** A row with more terms would not be found any faster: the others are still in its spans. */
const mostTerms = 100;

let lastAgent = { id: '', key: '' };

/** The id of an agent as rows have it: an id in upper case is the same id, as in routing. */
export const agentKey = (id: string): string => {
  // Spans of one agent come one after the other.
  if (id !== lastAgent.id) lastAgent = { id, key: isId(id) ? id.toLowerCase() : id };
  return lastAgent.key;
};

/** Sums end here: nonsense must not overflow them. */
export const largestSum = 9e15;

const add = (sum: number | null, value: number | null): number | null =>
  value === null ? sum : Math.min(largestSum, (sum ?? 0) + value);
const most = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);

export const emptyPiece = ({ traceId, startUs, endUs, name }: SpanFacts): TracePiece => ({
  traceId,
  startUs,
  endUs,
  rooted: false,
  name,
  service: null,
  agentId: null,
  agentName: null,
  spanCount: 0,
  failedSpans: 0,
  modelTokens: null,
  agentTokens: null,
  modelCostNanoUsd: null,
  agentCostNanoUsd: null,
  terms: new Set(),
  workItemId: null,
  conversationId: null,
  spans: [],
  namedUs: Number.POSITIVE_INFINITY,
  agentUs: Number.POSITIVE_INFINITY,
});

export type TermKind = 'm' | 't' | 'e' | 's';

/** A value as the row of a trace has it. Terms are lines of a text. */
export const termOf = (kind: TermKind, value: string): string =>
  `${kind}:${value.includes('\n') ? value.replaceAll('\n', ' ') : value}`;

const addTerm = (piece: TracePiece, kind: TermKind, value: string | null): void => {
  if (value !== null && piece.terms.size < mostTerms) piece.terms.add(termOf(kind, value));
};

/** Adds a span to the counts of its trace. `service`: of its resource. */
export const addFacts = (piece: TracePiece, facts: SpanFacts, service: string | null): void => {
  piece.spanCount++;
  if (facts.failed) piece.failedSpans++;
  piece.startUs = Math.min(piece.startUs, facts.startUs);
  piece.endUs = Math.max(piece.endUs, facts.endUs);
  const isRoot = facts.parentSpanId === '';
  if (isRoot === piece.rooted ? facts.startUs < piece.namedUs : isRoot) {
    piece.rooted = isRoot;
    piece.name = facts.name;
    piece.service = service;
    piece.namedUs = facts.startUs;
  }
  const agentId = facts.agentId === null ? null : agentKey(facts.agentId);
  if (agentId !== null && facts.startUs < piece.agentUs) {
    if (agentId !== piece.agentId) piece.agentName = null;
    piece.agentId = agentId;
    piece.agentUs = facts.startUs;
  }
  if (facts.agentName !== null && agentId === piece.agentId) piece.agentName = facts.agentName;
  if (facts.type === 'model') {
    piece.modelTokens = add(piece.modelTokens, facts.tokens);
    piece.modelCostNanoUsd = add(piece.modelCostNanoUsd, facts.costNanoUsd);
    addTerm(piece, 'm', facts.model);
  } else {
    // An agent that calls another one includes what that used.
    piece.agentTokens = most(piece.agentTokens, facts.tokens);
    piece.agentCostNanoUsd = most(piece.agentCostNanoUsd, facts.costNanoUsd);
    if (facts.type === 'tool') addTerm(piece, 't', facts.tool);
  }
  addTerm(piece, 'e', facts.errorType);
  addTerm(piece, 's', service);
  if (facts.workItemId !== null && isId(facts.workItemId)) piece.workItemId ??= facts.workItemId;
  piece.conversationId ??= facts.conversationId;
};

/** A power of two. Spans beyond it push older ones out. */
const seenSlots = 2 ** 17;

/**
 * The newest 100,000 spans, roughly: a sender that tries again sends the same spans within seconds. They are in memory that
 * threads may share, of which one looks at a time.
 */
export class SeenSpans {
  readonly memory: SharedArrayBuffer;
  readonly #keys: Uint32Array;
  /** The attempt that saw the span of each slot; 0: none. */
  readonly #attempts: Uint32Array;

  constructor(memory = new SharedArrayBuffer(seenSlots * 5 * Uint32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#keys = new Uint32Array(memory, 0, seenSlots * 4);
    this.#attempts = new Uint32Array(memory, this.#keys.byteLength, seenSlots);
  }

  /** Returns whether the span is stored, or was seen by this attempt; it is seen now. */
  see(key: SpanKey, { number, failed }: Attempt): boolean {
    const slot =
      (Math.imul(key[0]! ^ Math.imul(key[2]!, 0x9e3779b1), 0x85ebca6b) ^ key[1]!) & (seenSlots - 1);
    const at = slot * 4;
    const keys = this.#keys;
    const before = this.#attempts[slot]!;
    const isSame =
      keys[at] === key[0] && keys[at + 1] === key[1] && keys[at + 2] === key[2] && keys[at + 3] === key[3];
    if (isSame && before !== 0 && !failed.has(before)) return true;
    // First: if the thread is killed between the two, the span counts as one of a failed attempt.
    this.#attempts[slot] = number;
    keys.set(key, at);
    return false;
  }
}

/** An attempt to store spans. */
export interface Attempt {
  /** From 1 on, in their order. */
  number: number;
  /** Those before it whose spans are not stored. */
  failed: ReadonlySet<number>;
}

/** Sorts spans by trace. */
export class PieceMaker {
  readonly pieces = new Map<string, TracePiece>();
  readonly #reader = new FactReader({ withIds: false });
  readonly #seen: SeenSpans;
  readonly #attempt: Attempt;
  spans = 0;

  constructor(seen: SeenSpans, attempt: Attempt) {
    this.#seen = seen;
    this.#attempt = attempt;
  }

  /**
   * Adds the spans of a request. One that came before is stored once more, and changes no count of its trace. Returns
   * false if the bytes are no request.
   */
  add(bytes: Buffer): boolean {
    let around: Around | null = null;
    let resource: ResourceFacts = { service: null, agentId: null };
    let fields: Buffer | null = null;
    return eachSpan(bytes, (from, to, of) => {
      if (of !== around) {
        around = of;
        if (of.resource !== fields) {
          fields = of.resource;
          resource = this.#reader.resource(fields);
        }
      }
      this.#addSpan(bytes, from, to, of, resource);
    });
  }

  #addSpan(bytes: Buffer, from: number, to: number, around: Around, resource: ResourceFacts): void {
    const facts = this.#reader.span(bytes, from, to, resource);
    this.spans++;
    let piece = this.pieces.get(facts.traceId);
    if (piece === undefined) {
      piece = emptyPiece(facts);
      this.pieces.set(facts.traceId, piece);
    }
    const last = piece.spans.at(-1);
    if (last?.around === around) last.ranges.push(from, to);
    else piece.spans.push({ around, bytes, ranges: [from, to] });
    if (!this.#seen.see(this.#reader.key, this.#attempt)) addFacts(piece, facts, resource.service);
  }
}
