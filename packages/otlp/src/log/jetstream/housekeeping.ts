import { passed } from '../counts.ts';
import type { Checkpoint, StreamAggregate } from './aggregate.ts';
import type { Cursors } from './cursors.ts';
import { positionOf } from './reader.ts';
import type { StreamStore } from './store.ts';
import type { LogStream } from './stream.ts';

export interface HousekeepingParts {
  stream: Pick<LogStream, 'purgeBefore'>;
  store: Pick<StreamStore, 'expire' | 'saveCheckpoint' | 'dropCheckpointsBefore'>;
  aggregate: StreamAggregate;
  cursors: Pick<Cursors, 'all' | 'get' | 'update'>;
}

/**
 * Tasks of the maintenance leader for all replicas: it saves checkpoints, expires, and removes from the stream the
 * messages that every integration has passed. If two replicas lead for a moment, each removes only messages that no
 * integration needs as far as it knows, and its knowledge is never too new.
 */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  #purgedBefore = 0;

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
  }

  /**
   * Counts as expired what is older than `before` (ms since 1970) or beyond `maxBytes`, to within a checkpoint, then
   * purges.
   */
  async expire(before: number, maxBytes: number): Promise<void> {
    const { store, aggregate, cursors } = this.#parts;
    if (aggregate.lastTime <= before) aggregate.checkpoint();
    const old = aggregate.checkpoints.findLast(({ time }) => time <= before);
    for (const checkpoint of [old, this.#checkpointWithin(maxBytes)]) {
      if (checkpoint === undefined) continue;
      for (const cursor of await store.expire(checkpoint)) cursors.update(cursor);
    }
    await this.purge();
  }

  /** Drops from memory what no integration needs any more; the stream is left to the leader. */
  trim(): void {
    this.#parts.aggregate.trim(this.#firstNeeded());
  }

  /** Saves the checkpoints, and removes what every integration has passed. */
  async purge(): Promise<void> {
    const { stream, store, aggregate } = this.#parts;
    const needed = this.#firstNeeded();
    const purges = needed > this.#purgedBefore && needed > 1;
    // A replica that has not read as far must find a checkpoint where the stream then begins.
    if (purges && (aggregate.checkpoints.at(-1)?.seq ?? 0) < needed - 1) aggregate.checkpoint();
    for (const checkpoint of aggregate.checkpoints) {
      if (checkpoint.seq <= aggregate.savedCheckpoint) continue;
      await store.saveCheckpoint(checkpoint);
      aggregate.savedCheckpoint = checkpoint.seq;
    }
    if (!purges) return;
    await stream.purgeBefore(needed);
    this.#purgedBefore = needed;
    aggregate.trim(needed);
    const [first] = aggregate.checkpoints;
    if (first) await store.dropCheckpointsBefore(first.seq);
  }

  /** The first message that an integration still needs. */
  #firstNeeded(): number {
    const { aggregate, cursors } = this.#parts;
    let behind = aggregate.seq;
    // Another replica has just created the cursor: it is known here in a moment.
    for (const number of aggregate.totals.keys()) if (!cursors.get(number)) return 0;
    for (const cursor of cursors.all()) {
      const queued = aggregate.accepted(cursor.number).spans - passed(cursor);
      if (!cursor.removed && queued > 0) behind = Math.min(behind, positionOf(cursor, aggregate).seq);
    }
    return aggregate.firstNeeded(behind);
  }

  /** The first checkpoint with no more than `maxBytes` behind it; undefined if the stream has no more in all. */
  #checkpointWithin(maxBytes: number): Checkpoint | undefined {
    const { aggregate } = this.#parts;
    if (aggregate.size <= maxBytes) return undefined;
    const found = aggregate.checkpoints.find((one) => aggregate.bytesBehind(one) <= maxBytes);
    if (found) return found;
    aggregate.checkpoint();
    return aggregate.checkpoints.at(-1);
  }
}
