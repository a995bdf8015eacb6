import { setImmediate } from 'node:timers/promises';
import { takeSpans } from '@agent-platform/otlp';
import { LRUCache } from 'lru-cache';
import type { Database, Tx } from '../database/index.ts';
import { packBlocks } from './blocks.ts';
import { beginPart, findOpenPart, lockParts } from './part-store.ts';
import { PieceMaker, SeenSpans, type TracePiece } from './pieces.ts';
import {
  addPieces,
  BlockIds,
  insertBlocks,
  lockPosition,
  type TracePosition,
  updatePosition,
} from './write-store.ts';

/** Requests with their number of spans, one behind the other in the telemetry log. */
export interface StoredRequest {
  bytes: Buffer;
  spans: number;
}

/** Traces that go on in the part in which they began. */
const stickyTraces = 20_000;
/** Bytes that are read without a pause. */
const yieldAfter = 256 * 1024;

/** Thrown inside a transaction: another replica has stored spans of the same log, or the part is gone. */
class Changed extends Error {}

const isPartGone = (error: unknown): boolean =>
  // "no partition of relation found for row", or the table was dropped while the statement was planned.
  ['23514', '42P01'].includes((error as { code?: string }).code ?? '');

/** The requests without their first `skip` spans. */
const behind = (requests: readonly StoredRequest[], skip: number): StoredRequest[] => {
  const left: StoredRequest[] = [];
  let passed = 0;
  for (const { bytes, spans } of requests) {
    const from = Math.min(spans, Math.max(0, skip - passed));
    passed += spans;
    if (from === 0) left.push({ bytes, spans });
    else if (from < spans) left.push({ bytes: takeSpans(bytes, from, spans), spans: spans - from });
  }
  return left;
};

/**
 * Stores spans in the tables, exactly once: how far each telemetry log has come is changed in the transaction that stores
 * them. What a log gives again after a crash, or a replica that has lost its lease, is passed over.
 */
export class TraceWriter {
  readonly #db: Database;
  readonly #seen = new SeenSpans();
  readonly #ids = new BlockIds();
  readonly #partOf = new LRUCache<string, number>({ max: stickyTraces });
  #openPart: number | undefined;

  readonly #wrote: (bytes: number) => void;

  /** `wrote` is called with the bytes of blocks, after each transaction. */
  constructor(db: Database, wrote: (bytes: number) => void) {
    this.#db = db;
    this.#wrote = wrote;
  }

  /** A new part is written to from now on; undefined: the next write looks which. */
  partBegan(id: number | undefined): void {
    this.#openPart = id;
  }

  /**
   * Stores requests whose first span has the ordinal `start` in the log. Resolves to the number of spans of this log
   * that were ever stored.
   */
  async store(log: string, start: number, requests: readonly StoredRequest[]): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store(log, start, requests);
      } catch (error) {
        if (attempt === 3 || !(error instanceof Changed || isPartGone(error))) throw error;
        this.#openPart = undefined;
        this.#partOf.clear();
      }
    }
  }

  /** The spans of the log before this ordinal are never stored from now on. Resolves to the number that was. */
  skip(log: string, through: number): Promise<number> {
    return this.#db.tx(async (tx) => {
      const { ordinal, stored } = await lockPosition(tx, log);
      await updatePosition(tx, log, { ordinal: Math.max(ordinal, through), stored });
      return stored;
    });
  }

  async #store(log: string, start: number, requests: readonly StoredRequest[]): Promise<number> {
    const before = await this.#db.tx((tx) => lockPosition(tx, log));
    const from = Math.max(start, before.ordinal);
    const left = behind(requests, from - start);
    if (left.length === 0) return before.stored;
    const attempt = this.#seen.begin();
    try {
      return await this.#storeNew(log, start, requests, left, before, attempt);
    } catch (error) {
      this.#seen.failed(attempt);
      throw error;
    }
  }

  async #storeNew(
    log: string,
    start: number,
    requests: readonly StoredRequest[],
    left: readonly StoredRequest[],
    before: TracePosition,
    attempt: number,
  ): Promise<number> {
    const maker = new PieceMaker(this.#seen, attempt);
    let bytesRead = 0;
    for (const { bytes } of left) {
      if (!maker.add(bytes)) throw new Error('a request in the telemetry log cannot be read');
      bytesRead += bytes.length;
      // Requests of others come in between: 1 MB of small spans takes 10 ms.
      if (bytesRead > yieldAfter) {
        bytesRead = 0;
        await setImmediate();
      }
    }
    const open = await this.#part();
    const byPart = Map.groupBy(maker.pieces.values(), ({ traceId }) => this.#partOf.get(traceId) ?? open);
    const packed: { part: number; pieces: TracePiece[]; of: Awaited<ReturnType<typeof packBlocks>> }[] = [];
    for (const [part, pieces] of byPart) packed.push({ part, pieces, of: await packBlocks(pieces) });
    const after: TracePosition = {
      ordinal: start + requests.reduce((sum, { spans }) => sum + spans, 0),
      stored: before.stored + maker.spans,
    };
    await this.#db.tx(async (tx) => {
      const now = await lockPosition(tx, log);
      if (now.ordinal !== before.ordinal) throw new Changed();
      for (const { part, pieces, of } of packed) {
        const ids = await this.#ids.take(tx, of.blocks.length);
        await insertBlocks(tx, part, ids, of.blocks);
        await addPieces(tx, part, pieces, (traceId) => of.blocksOf.get(traceId)!.map((index) => ids[index]!));
      }
      await updatePosition(tx, log, after);
    });
    this.#wrote(
      packed.reduce((sum, { of }) => of.blocks.reduce((all, { content }) => all + content.length, sum), 0),
    );
    for (const { part, pieces } of packed) for (const { traceId } of pieces) this.#partOf.set(traceId, part);
    return after.stored;
  }

  async #part(): Promise<number> {
    this.#openPart ??= await this.#db.run(findOpenPart);
    this.#openPart ??= await this.#db.tx(async (tx: Tx) => {
      await lockParts(tx);
      return beginPart(tx, undefined);
    });
    return this.#openPart;
  }
}
