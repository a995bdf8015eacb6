import type { TelemetryLog } from '@agent-platform/otlp/log';
import { passed } from '@agent-platform/otlp/log';
import type { Clock } from '../../lib/clock.ts';
import type { Budget } from './budget.ts';
import { InFlightBatch } from './in-flight-batch.ts';

interface WindowParts {
  telemetryLog: TelemetryLog;
  budget: Budget;
  clock: Clock;
}

/**
 * The send window of one integration: what it has read and its cursor has not passed, as consecutive batches in the
 * log's order. A batch that is delivered out of order waits here for those before it, so after a crash no more is sent
 * again than was in the window.
 */
export class Window {
  readonly #number: number;
  readonly #parts: WindowParts;
  #batches: InFlightBatch[] = [];

  constructor(number: number, parts: WindowParts) {
    this.#number = number;
    this.#parts = parts;
  }

  get batches(): readonly InFlightBatch[] {
    return this.#batches;
  }

  /** Spans that the window holds and the cursor has not passed. */
  get spans(): number {
    const [first] = this.#batches;
    return first === undefined ? 0 : this.#batches.at(-1)!.end - first.committed;
  }

  /** Reads the next batch, of about `maxBytes` at most; null if nothing more is queued. */
  async readAhead(maxBytes: number): Promise<InFlightBatch | null> {
    const { telemetryLog, budget } = this.#parts;
    // Also reserved while it is read: all integrations may be reading now.
    const share = Math.min(maxBytes, budget.share());
    budget.take(share);
    try {
      const batch = await telemetryLog.read(this.#number, share, this.#batches.at(-1)?.batch);
      if (batch === null) return null;
      const inFlight = new InFlightBatch(batch, budget);
      this.#batches.push(inFlight);
      return inFlight;
    } finally {
      budget.take(-share);
    }
  }

  /** Reads released bytes again. Resolves to false if they cannot be read any more as they were. */
  async load(batch: InFlightBatch): Promise<boolean> {
    if (batch.loaded) return true;
    const before = this.#batches[this.#batches.indexOf(batch) - 1];
    const { telemetryLog } = this.#parts;
    return batch.reload(await telemetryLog.read(this.#number, batch.batch.bytes, before?.batch));
  }

  /**
   * Moves the cursor over all that is settled from there on and keeps the dead letters, in one durable write. Resolves
   * to what the cursor passed.
   */
  async commit(): Promise<{ batches: number; spans: number }> {
    const { telemetryLog, clock } = this.#parts;
    for (;;) {
      const settled = this.#settled();
      const last = settled.at(-1);
      if (last === undefined) return { batches: 0, spans: 0 };
      const at = new Date(clock.now()).toISOString();
      const deadLetters = settled.flatMap(({ refused }) => refused.map((one) => ({ at, ...one })));
      const rejected = settled.reduce((sum, batch) => sum + batch.rejected, 0);
      const spans = last.settled - settled[0]!.committed;
      const counts = { delivered: spans - rejected - deadLetters.length, rejected };
      const through = last.settled - last.batch.start;
      if (await telemetryLog.commit(last.batch, through, counts, deadLetters)) {
        for (const batch of settled) batch.commit();
        const whole = settled.filter(({ isSettled }) => isSettled).length;
        this.#batches.splice(0, whole);
        return { batches: whole, spans };
      }
      if (!this.dropPassed()) this.clear();
    }
  }

  /** Drops what the cursor has passed without a commit: expired, or removed. Returns whether there was any. */
  dropPassed(): boolean {
    const at = passed(this.#parts.telemetryLog.counters(this.#number));
    let dropped = false;
    while (this.#batches.length > 0) {
      const head = this.#batches[0]!;
      // A batch in flight is dropped after its response.
      if (head.underWay || head.committed >= at) break;
      dropped = true;
      if (head.end > at) {
        head.advanceTo(at);
        break;
      }
      head.release();
      this.#batches.shift();
    }
    return dropped;
  }

  /** Drops everything: it is read again from the cursor. */
  clear(): void {
    for (const batch of this.#batches.splice(0)) if (!batch.underWay) batch.release();
  }

  /** The batches with something to commit: it is settled, and so is all before it. */
  #settled(): InFlightBatch[] {
    const settled: InFlightBatch[] = [];
    for (const batch of this.#batches) {
      if (batch.settled > batch.committed) settled.push(batch);
      if (!batch.isSettled) break;
    }
    return settled;
  }
}
