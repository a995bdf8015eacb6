import { release } from '@agent-platform/otlp';
import { LRUCache } from 'lru-cache';
import type { Database, Tx } from '../database/index.ts';
import { Packer, type SortedBatch } from './packer.ts';
import type { StoredRequest } from './packing.ts';
import { beginPart, findOpenPart, lockParts } from './part-store.ts';
import {
  addRows,
  BlockIds,
  insertBlocks,
  lockPosition,
  type TracePosition,
  updatePosition,
} from './write-store.ts';

/** Traces that go on in the part in which they began. */
const stickyTraces = 20_000;

/** Thrown inside a transaction: another replica has stored spans of the same log, or the part is gone. */
class Changed extends Error {}

const isPartGone = (error: unknown): boolean =>
  // "no partition of relation found for row", or the table was dropped while the statement was planned.
  ['23514', '42P01'].includes((error as { code?: string }).code ?? '');

/**
 * Stores spans in the tables, exactly once: how far each telemetry log has come is changed in the transaction that stores
 * them. What a log gives again after a crash, or a replica that has lost its lease, is passed over.
 */
export class TraceWriter {
  readonly #db: Database;
  readonly #packer = new Packer();
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
    const end = start + requests.reduce((sum, { spans }) => sum + spans, 0);
    if (from >= end) return before.stored;
    const sorted = await this.#packer.sort(requests, from - start);
    try {
      return await this.#storeSorted(log, end, sorted, before);
    } catch (error) {
      sorted.markFailed();
      throw error;
    }
  }

  async #storeSorted(
    log: string,
    end: number,
    { traceIds, spans, pack }: SortedBatch,
    before: TracePosition,
  ): Promise<number> {
    const open = await this.#part();
    const parts = traceIds.map((id) => this.#partOf.get(id) ?? open);
    const packed = await pack(parts);
    const after: TracePosition = { ordinal: end, stored: before.stored + spans };
    await this.#db.tx(async (tx) => {
      const now = await lockPosition(tx, log);
      if (now.ordinal !== before.ordinal) throw new Changed();
      for (const { part, blocks, rows } of packed) {
        const ids = await this.#ids.take(tx, blocks.length);
        await insertBlocks(tx, part, ids, blocks);
        await addRows(tx, part, ids, rows);
      }
      await updatePosition(tx, log, after);
    });
    for (const [i, id] of traceIds.entries()) this.#partOf.set(id, parts[i]!);
    const contents = packed.flatMap(({ blocks }) => blocks.map(({ content }) => content));
    this.#wrote(contents.reduce((sum, { length }) => sum + length, 0));
    for (const content of contents) release(content);
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
