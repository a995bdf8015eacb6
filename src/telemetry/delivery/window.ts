import type { Clock } from '../../lib/clock.ts';
import { passed } from '../log/counts.ts';
import type { TelemetryLog } from '../log/log.ts';
import type { Budget } from './budget.ts';
import { Parcel } from './in-flight-batch.ts';

interface WindowParts {
  telemetryLog: TelemetryLog;
  budget: Budget;
  clock: Clock;
}

/**
 * What one integration has read and its cursor has not passed: consecutive batches in the log's order. Those that
 * are delivered out of order wait here for the ones before them, so after a crash no more is sent again than was
 * in the window.
 */
export class Window {
  readonly #number: number;
  readonly #parts: WindowParts;
  #parcels: Parcel[] = [];

  constructor(number: number, parts: WindowParts) {
    this.#number = number;
    this.#parts = parts;
  }

  get parcels(): readonly Parcel[] {
    return this.#parcels;
  }

  /** Spans that the window holds and the cursor has not passed. */
  get spans(): number {
    const [first] = this.#parcels;
    return first === undefined ? 0 : this.#parcels.at(-1)!.end - first.committed;
  }

  /** The next batch, of about `maxBytes` at most; null where nothing more is queued. */
  async readAhead(maxBytes: number): Promise<Parcel | null> {
    const { telemetryLog, budget } = this.#parts;
    // Taken while it is read as well: all integrations may be reading now.
    const share = Math.min(maxBytes, budget.share());
    budget.take(share);
    try {
      const batch = await telemetryLog.read(this.#number, share, this.#parcels.at(-1)?.batch);
      if (batch === null) return null;
      const parcel = new Parcel(batch, budget);
      this.#parcels.push(parcel);
      return parcel;
    } finally {
      budget.take(-share);
    }
  }

  /** Reads again what was let go. False where it cannot be read any more as it was. */
  async load(parcel: Parcel): Promise<boolean> {
    if (parcel.loaded) return true;
    const before = this.#parcels[this.#parcels.indexOf(parcel) - 1];
    const { telemetryLog } = this.#parts;
    return parcel.reload(await telemetryLog.read(this.#number, parcel.batch.bytes, before?.batch));
  }

  /**
   * Moves the cursor over all that is settled from there on, in one durable write, with the dead letters. Resolves to
   * what was passed.
   */
  async commit(): Promise<{ parcels: number; spans: number }> {
    const { telemetryLog, clock } = this.#parts;
    for (;;) {
      const settled = this.#settled();
      const last = settled.at(-1);
      if (last === undefined) return { parcels: 0, spans: 0 };
      const at = new Date(clock.now()).toISOString();
      const deadLetters = settled.flatMap(({ refused }) => refused.map((one) => ({ at, ...one })));
      const rejected = settled.reduce((sum, parcel) => sum + parcel.rejected, 0);
      const spans = last.settled - settled[0]!.committed;
      const counts = { delivered: spans - rejected - deadLetters.length, rejected };
      const through = last.settled - last.batch.start;
      if (await telemetryLog.commit(last.batch, through, counts, deadLetters)) {
        for (const parcel of settled) parcel.commit();
        const whole = settled.filter(({ isSettled }) => isSettled).length;
        this.#parcels.splice(0, whole);
        return { parcels: whole, spans };
      }
      if (!this.clip()) this.clear();
    }
  }

  /** Takes out what the cursor has passed by itself: expired, or removed. Answers whether there was any. */
  clip(): boolean {
    const at = passed(this.#parts.telemetryLog.counters(this.#number));
    let clipped = false;
    while (this.#parcels.length > 0) {
      const head = this.#parcels[0]!;
      // Under way: it is clipped when it is answered.
      if (head.underWay || head.committed >= at) break;
      clipped = true;
      if (head.end > at) {
        head.clip(at);
        break;
      }
      head.letGo();
      this.#parcels.shift();
    }
    return clipped;
  }

  /** Forgets everything: it is read anew from the cursor. */
  clear(): void {
    for (const parcel of this.#parcels.splice(0)) if (!parcel.underWay) parcel.letGo();
  }

  /** The parcels with what can be committed: settled, and so is all before it. */
  #settled(): Parcel[] {
    const settled: Parcel[] = [];
    for (const parcel of this.#parcels) {
      if (parcel.settled > parcel.committed) settled.push(parcel);
      if (!parcel.isSettled) break;
    }
    return settled;
  }
}
