import { gunzipSync, release, takeSpans } from '@agent-platform/otlp';
import { type Block, packBlocks } from './blocks.ts';
import { packId } from './packed-id.ts';
import { type Attempt, PieceMaker, type SeenSpans, type TracePiece } from './pieces.ts';

/** A request as the telemetry log has it. */
export interface StoredRequest {
  /** An ExportTraceServiceRequest, in gzip or plain. */
  bytes: Buffer;
  gzip: boolean;
  spans: number;
}

/** Requests one behind the other in the telemetry log, without their first `skip` spans. */
export interface Batch {
  requests: readonly StoredRequest[];
  skip: number;
  attempt: Attempt;
}

/** The traces of a batch. */
export interface Sorted {
  traceIds: string[];
  spans: number;
}

/** What a part gets of a batch. */
export interface PartOfBatch {
  part: number;
  blocks: Block[];
  /** The rows of its traces, as JSON. `block` and `more_blocks` are indexes of `blocks`. */
  rows: string;
}

const largestRequest = 64 * 1024 * 1024;

/** Sorts the spans of a batch by trace, then packs them: both in one go, however long it takes. */
export class Packing {
  readonly #seen: SeenSpans;
  #pieces: TracePiece[] = [];
  #inflated: Buffer[] = [];

  constructor(seen: SeenSpans) {
    this.#seen = seen;
  }

  /** Throws if the bytes are no requests. */
  sort({ requests, skip, attempt }: Batch): Sorted {
    this.#clear();
    const maker = new PieceMaker(this.#seen, attempt);
    let passed = 0;
    for (const request of requests) {
      const { spans } = request;
      const from = Math.min(spans, Math.max(0, skip - passed));
      passed += spans;
      if (from > 0 && from === spans) continue;
      const bytes = this.#read(request);
      if (!maker.add(from === 0 ? bytes : takeSpans(bytes, from, spans))) {
        throw new Error('a request in the telemetry log cannot be read');
      }
    }
    this.#pieces = [...maker.pieces.values()];
    return { traceIds: this.#pieces.map(({ traceId }) => traceId), spans: maker.spans };
  }

  /** Packs what was sorted last. `parts`: the part of each of its traces. Throws if that is gone, as in a new thread. */
  pack(parts: readonly number[]): PartOfBatch[] {
    if (parts.length !== this.#pieces.length) throw new Error('the traces that were sorted are gone');
    const packed: PartOfBatch[] = [];
    for (const part of new Set(parts)) {
      const pieces = this.#pieces.filter((_piece, i) => parts[i] === part);
      const { blocks, blocksOf } = packBlocks(pieces);
      packed.push({ part, blocks, rows: JSON.stringify(pieces.map((one, i) => rowOf(one, blocksOf[i]!))) });
    }
    this.#clear();
    return packed;
  }

  #read({ bytes, gzip }: StoredRequest): Buffer {
    if (!gzip) return bytes;
    const inflated = gunzipSync(bytes, largestRequest);
    this.#inflated.push(inflated);
    return inflated;
  }

  #clear(): void {
    this.#pieces = [];
    for (const bytes of this.#inflated) release(bytes);
    this.#inflated = [];
  }
}

const rowOf = (piece: TracePiece, [block, ...more]: readonly number[]) => ({
  trace_id: piece.traceId,
  start_us: piece.startUs,
  end_us: piece.endUs,
  rooted: piece.rooted,
  name: piece.name,
  service: piece.service,
  agent_id: piece.agentId === null ? null : packId(piece.agentId),
  agent_name: piece.agentName,
  span_count: piece.spanCount,
  failed_spans: piece.failedSpans,
  model_tokens: piece.modelTokens,
  agent_tokens: piece.agentTokens,
  model_cost_nano_usd: piece.modelCostNanoUsd,
  agent_cost_nano_usd: piece.agentCostNanoUsd,
  terms: [...piece.terms].join('\n'),
  work_item_id: piece.workItemId,
  conversation_id: piece.conversationId === null ? null : packId(piece.conversationId),
  block,
  more_blocks: more.length === 0 ? null : more,
});
