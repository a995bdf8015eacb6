import { passed } from '../counts.ts';
import type { Fold, Mark } from './aggregate.ts';
import type { Cursors } from './cursors.ts';
import { placeOf } from './reader.ts';
import type { StreamStore } from './store.ts';
import type { LogStream } from './stream.ts';

export interface HousekeepingParts {
  stream: Pick<LogStream, 'purgeBefore'>;
  store: Pick<StreamStore, 'expire' | 'saveMark' | 'dropMarksBefore'>;
  fold: Fold;
  cursors: Pick<Cursors, 'all' | 'get' | 'keep'>;
}

/**
 * What one replica does for all: saves marks, expires, and removes from the stream what every integration has passed.
 * Where two do it for a moment, each removes only what nobody needs by what it knows, and that is never too new.
 */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  #purgedBefore = 0;

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
  }

  /** Counts as expired what is older than `before` (ms since 1970) or beyond `maxBytes`, to within a mark, then purges. */
  async expire(before: number, maxBytes: number): Promise<void> {
    const { store, fold, cursors } = this.#parts;
    if (fold.lastTime <= before) fold.mark();
    const old = fold.marks.findLast(({ time }) => time <= before);
    for (const mark of [old, this.#markWithin(maxBytes)]) {
      if (mark === undefined) continue;
      for (const cursor of await store.expire(mark)) cursors.keep(cursor);
    }
    await this.purge();
  }

  /** Forgets what no integration needs any more, and leaves the stream to the replica that keeps house. */
  trim(): void {
    this.#parts.fold.trim(this.#needed());
  }

  /** Saves the marks, and removes what every integration has passed. */
  async purge(): Promise<void> {
    const { stream, store, fold } = this.#parts;
    const needed = this.#needed();
    const purges = needed > this.#purgedBefore && needed > 1;
    // A replica that has not read as far must find a mark where the stream then begins.
    if (purges && (fold.marks.at(-1)?.seq ?? 0) < needed - 1) fold.mark();
    for (const mark of fold.marks) {
      if (mark.seq <= fold.savedMark) continue;
      await store.saveMark(mark);
      fold.savedMark = mark.seq;
    }
    if (!purges) return;
    await stream.purgeBefore(needed);
    this.#purgedBefore = needed;
    fold.trim(needed);
    const [first] = fold.marks;
    if (first) await store.dropMarksBefore(first.seq);
  }

  /** The first message that anybody still needs. */
  #needed(): number {
    const { fold, cursors } = this.#parts;
    let behind = fold.seq;
    // Another replica has just made its cursor: it is known in a moment.
    for (const number of fold.totals.keys()) if (!cursors.get(number)) return 0;
    for (const cursor of cursors.all()) {
      const queued = fold.accepted(cursor.number).spans - passed(cursor);
      if (!cursor.removed && queued > 0) behind = Math.min(behind, placeOf(cursor, fold).seq);
    }
    return fold.needed(behind);
  }

  /** The mark behind which are no more than `maxBytes`; undefined where there are no more in all. */
  #markWithin(maxBytes: number): Mark | undefined {
    const { fold } = this.#parts;
    if (fold.size <= maxBytes) return undefined;
    const found = fold.marks.find((mark) => fold.bytesBehind(mark) <= maxBytes);
    if (found) return found;
    fold.mark();
    return fold.marks.at(-1);
  }
}
