import { open, rm } from 'node:fs/promises';
import { passed } from '../counts.ts';
import type { AcceptedTotals } from '../record.ts';
import type { CursorFile } from './cursor.ts';
import { RecordReader, type Segment } from './reader.ts';
import type { SegmentWriter } from './writer.ts';

/** Removes segments: all integrations have passed them, or they are too old or too many. */
export class SegmentHousekeeping {
  readonly #writer: SegmentWriter;
  readonly #cursorOf: (number: number) => CursorFile | undefined;

  constructor(writer: SegmentWriter, cursorOf: (number: number) => CursorFile | undefined) {
    this.#writer = writer;
    this.#cursorOf = cursorOf;
  }

  /**
   * Counts as expired what is older than `before` (ms since 1970), to within a segment, or beyond `maxBytes`, to within
   * a record; then unlinks the segments that hold nothing any more.
   */
  async expire(before: number, maxBytes: number): Promise<void> {
    await this.#writer.exclusive(async () => {
      const { segments } = this.#writer;
      const beyond = (base: number): boolean => this.#writer.end - base > maxBytes;
      // A segment that expires in part is unlinked when the rest of it is passed.
      if (segments.length === 1 && beyond(segments[0]!.base)) await this.#writer.roll();
      else await this.#writer.roll(before);
      while (segments.length > 1) {
        // The first later segment whose head is readable says what was accepted before it.
        const keep = segments.findIndex(({ totals }, i) => i > 0 && totals !== null);
        if (keep < 0) return;
        const { base, totals, created } = segments[keep]!;
        if (created > before && !beyond(base)) break;
        await this.#expireUpTo(base, totals!);
        await this.#unlink(keep);
      }
      const [oldest] = segments;
      if (oldest !== undefined && beyond(oldest.base)) await this.#expireWithin(oldest, maxBytes);
    });
    await this.collect();
  }

  /** `totals`: what was accepted before the offset `at`. */
  async #expireUpTo(at: number, totals: AcceptedTotals): Promise<void> {
    for (const [number, { spans }] of totals) {
      await this.#cursorOf(number)?.update((state) => {
        const late = spans - passed(state);
        if (state.removed || late <= 0) return null;
        return { ...state, expired: state.expired + late, at: Math.max(state.at, at) };
      });
    }
  }

  /**
   * Expires the records of a segment that are more than `maxBytes` from the end: dropped whole, it could take the
   * newest too.
   */
  async #expireWithin({ base, totals }: Segment, maxBytes: number): Promise<void> {
    const writer = this.#writer;
    const accepted = new Map(totals);
    const reader = new RecordReader(writer);
    try {
      let at = base;
      while (writer.end - at > maxBytes) {
        const record = await reader.next(at);
        if (record === null) break;
        for (const [number, total] of record.totals) accepted.set(number, total);
        at = record.next;
      }
      await this.#expireUpTo(at, accepted);
    } finally {
      await reader.close();
    }
  }

  /**
   * Deletes the segments that every integration has passed. The last one is kept, because writing continues in it; but
   * if the disk is full it must go too, or there is no room to begin another.
   */
  async collect(): Promise<void> {
    if (this.#passedByAll() === 0) return;
    await this.#writer.exclusive(() => this.#unlink(this.#passedByAll()));
  }

  /** Counts the segments, from the first on, that every integration has passed. */
  #passedByAll(): number {
    const { segments, sealed, totals: accepted } = this.#writer;
    let count = 0;
    for (let i = 1; i <= segments.length; i++) {
      const totals = i < segments.length ? segments[i]!.totals : sealed ? accepted : null;
      if (totals === null) continue;
      for (const [number, { spans }] of totals) {
        const state = this.#cursorOf(number)?.state;
        if (state !== undefined && !state.removed && passed(state) < spans) return count;
      }
      count = i;
    }
    return count;
  }

  /**
   * Idle readers keep files open, and an unlinked file would keep its disk space until they read on: so it is emptied.
   */
  async #unlink(count: number): Promise<void> {
    const { segments } = this.#writer;
    for (let left = count; left > 0; left--) {
      const { path } = segments[0]!;
      const file = await open(path, 'r+').catch(() => null);
      try {
        await rm(path, { force: true });
        segments.shift();
        await file?.truncate(0);
      } finally {
        await file?.close();
      }
    }
  }
}
