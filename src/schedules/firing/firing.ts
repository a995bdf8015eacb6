import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type Database, outsideTransaction } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop, type LoopPass } from '../../lib/loop.ts';
import { readSettings, type Settings } from '../../settings/index.ts';
import { schedulesChannel } from '../store.ts';
import { type Fired, type FiringReport, fireClaimed } from './batch.ts';
import { fireByBisection } from './bisect.ts';
import { describeFault, isRowFault } from './faults.ts';
import type { DueRow } from './plan.ts';
import { claimDue, type DueOrder, lookAhead } from './store.ts';
import { recomputeOlderRules } from './zone-rules.ts';

/**
 * Schedules fired in one transaction: short enough that no one waits for its locks, and that a request waits no more
 * than some milliseconds for this process. With 1,000 a firing costs a tenth less.
 */
const batchSize = 500;
/**
 * Batches in flight at once, as soon as one has claimed all that it may: while one commits or is planned here, the
 * database works on another.
 * Few, so that the pool always has connections for requests, and no more than this machine has cores: on two cores a
 * third slot fired no more and made the reads during a herd wait half as long again. The embedded database has one
 * connection.
 */
const workerSlots = { postgres: Math.min(3, availableParallelism()), embedded: 1 };
/**
 * Between its batches a worker slot pauses this many times as long as it waited for the settings, at most `maxMs`. On an
 * idle machine that is a millisecond or two; a busy one is left to the requests, which wait as long: on a machine that
 * others had taken three quarters of, half of the reads took 0.25 s instead of 2 s, and the herd a third to two thirds
 * longer.
 */
const throttle = { factor: 4, maxMs: 400 };
/** The longest sleep: the database's clock may be set forward while the loop sleeps by this machine's. */
const maxSleepMs = 15_000;
/**
 * The back-off of the next look at schedules that are due and locked by another transaction: the first wait, doubled
 * each time up to the longest one. An edit notifies when it is done; only other locks are noticed by looking.
 */
const lockedRetryMs = { first: 100, max: 1_000 };
const rulesCheckEveryMs = 60_000;
/** A loop that has done nothing for so long hangs: it sleeps 15 s at most, and a statement without a response fails. */
const hangsAfterMs = 60_000;

/** Attributes of the span around a batch. */
export type BatchAttributes = Record<string, number | boolean>;

export interface FiringDeps {
  db: Database;
  log: Logger;
  /** Called after each commit with what happened. */
  onFired?: (reports: FiringReport[]) => void;
  /** Runs one batch in a span; `describe` sets the span's attributes. */
  span?: <T>(name: string, fn: (describe: (attributes: BatchAttributes) => void) => Promise<T>) => Promise<T>;
}

/** What a batch that begins because another one was full need not read again. */
interface Begun {
  settings: Settings;
  waitedMs: number;
}

interface Batch extends Fired {
  claimed: number;
  /** Time that the read of the settings took: what any request waits for its statement at present. */
  waitedMs: number;
  bisected: boolean;
}

const attributesOf = ({ claimed, bisected, reports }: Batch): BatchAttributes => {
  const sums = { fired: 0, caught_up: 0, skipped: 0, manual: 0 };
  let latest = 0;
  for (const { outcome, count, latenessMs } of reports) {
    sums[outcome] += count;
    latest = Math.max(latest, latenessMs);
  }
  return {
    'agent_platform.schedules.claimed': claimed,
    'agent_platform.occurrences.fired': sums.fired,
    'agent_platform.occurrences.caught_up': sums.caught_up,
    'agent_platform.occurrences.skipped': sums.skipped,
    'agent_platform.occurrences.max_lateness_ms': latest,
    'agent_platform.firing.by_halves': bisected,
  };
};

/** The firing loop of one replica. There is no leader: every replica runs one, and they share what is due. */
export class Firing {
  readonly role = 'scheduler';
  readonly #deps: FiringDeps;
  readonly #loop: Loop;
  /** The database's time minus this machine's, as last seen. */
  #skewMs = 0;
  #lockedRetryMs = lockedRetryMs.first;
  #rulesCheckedAt = Number.NEGATIVE_INFINITY;
  /** When it last looked or fired a batch, by performance.now(). */
  #workedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: FiringDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      name: 'firing',
      log: deps.log,
      maxRetryMs: 2_000,
      tick: (signal) =>
        this.#tick(signal).catch((error) => {
          throw describeFault(error);
        }),
    });
  }

  /** Follows the times that writes set. A second call changes nothing. */
  listen(): void {
    this.#deps.db.listen(schedulesChannel, this.#onWrite);
  }

  start(): void {
    this.listen();
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Returns whether what falls due is fired by this replica, as far as it knows. */
  isWorking(): boolean {
    return this.#loop.pass().error === null && performance.now() - this.#workedAt < hangsAfterMs;
  }

  readonly #onWrite = (payload: string | null): void => {
    const due = payload === null || payload === '' ? Number.NaN : Number(payload);
    if (Number.isNaN(due)) this.#loop.wake();
    else this.#loop.wakeWithin(due - (Date.now() + this.#skewMs));
  };

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Looks now. For tests that have moved the database's clock. */
  wake(): void {
    this.#loop.wake();
  }

  async #tick(signal: AbortSignal): Promise<number> {
    if (Date.now() - this.#rulesCheckedAt >= rulesCheckEveryMs) {
      await recomputeOlderRules(this.#deps.db);
      this.#rulesCheckedAt = Date.now();
    }
    const { isDue, upcoming, now } = await this.#deps.db.run(lookAhead);
    this.#skewMs = now.getTime() - Date.now();
    this.#workedAt = performance.now();
    const moved = isDue ? await this.#fireAll(signal) : 0;
    if (moved > 0) return 0;
    // A schedule that is locked, or cannot even be skipped, delays nothing else that falls due.
    const retry = isDue ? this.#lockedRetryMs : maxSleepMs;
    this.#lockedRetryMs = isDue ? Math.min(2 * retry, lockedRetryMs.max) : lockedRetryMs.first;
    const wait = upcoming === null ? maxSleepMs : upcoming.getTime() - now.getTime();
    return Math.min(wait, retry, maxSleepMs);
  }

  /**
   * Fires what is due: batch after batch until one is not full. Once one has claimed as much as it may, others are fired at
   * the same time, in several worker slots.
   */
  async #fireAll(signal: AbortSignal): Promise<number> {
    let moved = 0;
    let more = true;
    let batches = 0;
    const slots: Promise<void>[] = [];
    const work = async (begun?: Begun): Promise<void> => {
      for (let given = begun; more && !signal.aborted; given = undefined) {
        // Every third begins at the other end, so that what falls due during a herd does not wait for all of it.
        const order = batches++ % 3 === 2 ? 'shortest' : 'longest';
        const batch = await this.#fireBatch(order, begin, given).catch((error) => {
          more = false;
          throw error;
        });
        moved += batch.moved;
        if (batch.claimed < batchSize || batch.moved === 0) return;
        await sleep(Math.min(throttle.factor * batch.waitedMs, throttle.maxMs));
      }
    };
    // Not in the transaction or the span of the batch that begins another slot.
    const outside = AsyncLocalStorage.snapshot();
    const begin = (begun?: Begun): void => {
      if (slots.length >= workerSlots[this.#deps.db.kind]) return;
      const slot = outside(work, begun);
      // It may fail while only the slots before it are awaited: an unhandled rejection ends the process.
      slot.catch(() => {});
      slots.push(slot);
    };
    begin();
    // The first failure is thrown after all slots have ended.
    for (let ended = 0; ended < slots.length; ) ended = (await Promise.allSettled(slots)).length;
    await Promise.all(slots);
    return moved;
  }

  /** Fires one batch. Returns how many schedules advanced to their next occurrence. */
  async fireDue(): Promise<number> {
    return (await this.#fireBatch('longest', () => {})).moved;
  }

  async #fireBatch(order: DueOrder, onFull: (begun: Begun) => void, given?: Begun): Promise<Batch> {
    const { span } = this.#deps;
    const batch = span
      ? await span('fire schedules', async (describe) => {
          const fired = await this.#batch(order, onFull, given);
          describe(attributesOf(fired));
          return fired;
        })
      : await this.#batch(order, onFull, given);
    this.#workedAt = performance.now();
    const { reports } = batch;
    if (reports.length > 0) outsideTransaction(() => this.#deps.onFired?.(reports));
    return batch;
  }

  /** `onFull` is called when the batch has claimed as much as it may. */
  async #batch(order: DueOrder, onFull: (begun: Begun) => void, given?: Begun): Promise<Batch> {
    const { db, log } = this.#deps;
    const begun = performance.now();
    const settings = given?.settings ?? (await db.run(readSettings));
    const waitedMs = given?.waitedMs ?? performance.now() - begun;
    let rows: DueRow[] = [];
    try {
      return await db.tx(async (tx) => {
        rows = await claimDue(tx, batchSize, order);
        if (rows.length === batchSize) {
          onFull({ settings, waitedMs });
          // The others send their claims before this one is planned, which keeps the process busy for milliseconds.
          await setImmediate();
        }
        return {
          claimed: rows.length,
          waitedMs,
          bisected: false,
          ...(await fireClaimed(tx, settings, rows)),
        };
      });
    } catch (error) {
      if (rows.length === 0 || !isRowFault(error)) throw error;
      log.warn({ error: messageOf(error), schedules: rows.length }, 'a batch cannot fire: it is bisected');
      const ids = rows.map(({ id }) => id);
      return { claimed: ids.length, waitedMs, bisected: true, ...(await fireByBisection(db, ids, log)) };
    }
  }
}
