import type { Database, Tx } from '../database/index.ts';
import { unavailable } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import type { CurrentSettings } from '../settings/index.ts';
import { beginPart, dropPart, findOpenPart, listParts, lockParts, type Part } from './part-store.ts';
import type { TraceWriter } from './writer.ts';

const everyMs = 10_000;
/** The pause while this replica stores nothing: a part only grows older then. A change of the limits wakes the loop. */
const idleEveryMs = 60_000;
/** After a part could not be dropped, because someone reads it. */
const againMs = 2_000;
const dayMs = 86_400_000;
const partsOfLimit = 8;

/** SQLSTATE of `lock_timeout`. */
const isLocked = (error: unknown): boolean => (error as { code?: string }).code === '55P03';

const isOpen = ({ ended_at }: Part): boolean => ended_at === null;

interface RetentionParts {
  db: Database;
  settings: CurrentSettings;
  writer: TraceWriter;
  log: Logger;
}

/**
 * Begins a new part when the open one is a day old or an eighth of the limit, and drops the oldest while they are too many
 * bytes or too old. Every replica that delivers does it; the lock makes them take turns.
 */
export class PartKeeper {
  readonly #parts: RetentionParts;
  readonly #loop: Loop;
  #written = 0;
  /** Something was stored since the last tick. */
  #hasStored = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#loop = new Loop({ name: 'trace parts', log: parts.log, tick: () => this.#tick() });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  pass() {
    return this.#loop.pass();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** So many bytes were stored: a part must not grow far beyond its size before someone looks. */
  wrote(bytes: number): void {
    this.#hasStored = true;
    this.#loop.wakeWithin(everyMs);
    this.#written += bytes;
    if (this.#written < this.#limits().bytes / partsOfLimit / 4) return;
    this.#written = 0;
    this.#loop.wake();
  }

  #limits(): { days: number; bytes: number } {
    const { TRACE_RETENTION_DAYS: days, TRACE_RETENTION_MB: megabytes } = this.#parts.settings.get();
    return { days, bytes: megabytes * 1024 * 1024 };
  }

  /** Begins and drops parts as the limits say now. */
  async check(): Promise<void> {
    const { db, writer } = this.#parts;
    let parts = await db.run(listParts);
    const full = parts.find((part) => isOpen(part) && this.#isFull(part));
    if (full) {
      await db.tx(async (tx) => {
        await lockParts(tx);
        await beginPart(tx, full.id);
      });
      parts = await db.run(listParts);
    }
    const open = parts.find(isOpen);
    if (open) writer.partBegan(open.id);
    await this.#drop(parts);
  }

  async #tick(): Promise<number> {
    const { log } = this.#parts;
    const isIdle = !this.#hasStored;
    this.#hasStored = false;
    try {
      await this.check();
      if (!isIdle) return everyMs;
      // Another replica may begin one in the meantime.
      this.#parts.writer.partBegan(undefined);
      return idleEveryMs;
    } catch (error) {
      if (!isLocked(error)) throw error;
      log.info('a part of the traces is being read; it is dropped in a moment');
      return againMs;
    }
  }

  /** Whether what comes next belongs into a new part. */
  #isFull({ bytes, age_ms, isEmpty }: Part): boolean {
    return bytes >= this.#limits().bytes / partsOfLimit || (age_ms >= dayMs && !isEmpty);
  }

  async #drop(parts: readonly Part[]): Promise<void> {
    const { days, bytes } = this.#limits();
    let total = parts.reduce((sum, part) => sum + part.bytes, 0);
    for (const part of parts) {
      if (part.ended_ms === null) continue;
      if (total <= bytes && part.ended_ms < days * dayMs) return;
      await this.#parts.db.tx(async (tx) => {
        await lockParts(tx);
        // Another replica may have dropped it.
        if ((await listParts(tx)).some(({ id }) => id === part.id)) await dropPart(tx, part.id);
      });
      total -= part.bytes;
    }
  }
}

/** Drops all parts. Throws 503 while someone reads them for long. Returns the number of spans that they had. */
export const dropAllParts = async (tx: Tx): Promise<number> => {
  try {
    await lockParts(tx);
    const parts = await listParts(tx);
    if (parts.length === 0) return 0;
    await beginPart(tx, await findOpenPart(tx));
    let spans = 0;
    for (const { id } of parts) spans += await dropPart(tx, id);
    return spans;
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw unavailable('The traces are being read at present. Try again in a moment.', 2);
  }
};
