import { availableParallelism } from 'node:os';
import { setTimeout as rest } from 'node:timers/promises';
import { type Database, outsideTransaction } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { type Fired, type FiringReport, fireClaimed } from './batch.ts';
import { claimDue, lookAhead } from './due.ts';
import { describeFault, isRowFault } from './faults.ts';
import type { DueRow } from './plan.ts';
import { fireByHalves } from './poison.ts';
import { recomputeOlderRules } from './zone-rules.ts';

/** The channel on which a write says when the schedule it made or changed is next due (milliseconds since 1970). */
export const schedulesChannel = 'schedules';

/**
 * Schedules fired in one transaction: short enough that nobody waits for its locks, and that a request waits no more
 * than some milliseconds for this process. With 1,000 a firing costs a tenth less.
 */
const batchSize = 500;
/**
 * Batches in flight at once, once one was full: while one commits or is decided here, the database works on another.
 * Few, so that the pool always has connections for requests, and no more than this machine has cores: on two, a third
 * fired no more and made the reads of a herd wait half as long again. The embedded database has one connection.
 */
const lanes = { postgres: Math.min(3, availableParallelism()), embedded: 1 };
/**
 * Between its batches a lane rests so many times as long as it waited for BEGIN, at most `mostMs`. Where there is room
 * that is a millisecond or two; where the machine is full it is left to the requests, which wait as long as BEGIN: on
 * one that others had taken three quarters of, half of the reads took 0.25 s instead of 2 s, and the herd a third to two thirds longer.
 */
const yielding = { times: 4, mostMs: 400 };
/** The longest sleep: the database's clock may be set forward while the loop sleeps by this machine's. */
const longestSleepMs = 15_000;
/**
 * How soon schedules that are due, and that another transaction holds, are looked at again: at first, and at most,
 * doubled each time. An edit tells when it is done; only what else locks a row is found out like this.
 */
const heldRetryMs = { first: 100, most: 1_000 };
const rulesCheckEveryMs = 60_000;

type Attributes = Record<string, number | boolean>;

export interface FiringDeps {
  db: Database;
  log: Logger;
  /** Called for every row of what happened, after the commit. */
  onFired?: (reports: FiringReport[]) => void;
  /** A span around one batch, which is told what came of it. */
  span?: <T>(name: string, fn: (describe: (attributes: Attributes) => void) => Promise<T>) => Promise<T>;
}

interface Batch extends Fired {
  claimed: number;
  /** How long a connection and the answer to BEGIN took: what any request waits for its statement at present. */
  waitedMs: number;
  byHalves: boolean;
}

const described = ({ claimed, byHalves, reports }: Batch): Attributes => {
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
    'agent_platform.firing.by_halves': byHalves,
  };
};

/** The firing loop of one replica. There is no leader: every replica runs one, and they share what is due. */
export class Firing {
  readonly #deps: FiringDeps;
  readonly #loop: Loop;
  /** The database's time minus this machine's, as last seen. */
  #skewMs = 0;
  #heldRetryMs = heldRetryMs.first;
  #rulesCheckedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: FiringDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      name: 'firing',
      log: deps.log,
      maxRetryMs: 2_000,
      tick: (signal) =>
        this.#turn(signal).catch((error) => {
          throw describeFault(error);
        }),
    });
    deps.db.listen(schedulesChannel, (payload) => {
      const due = payload === null || payload === '' ? Number.NaN : Number(payload);
      if (Number.isNaN(due)) this.#loop.wake();
      else this.#loop.wakeWithin(due - (Date.now() + this.#skewMs));
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Look now. For tests that have moved the database's clock. */
  wake(): void {
    this.#loop.wake();
  }

  async #turn(signal: AbortSignal): Promise<number> {
    if (Date.now() - this.#rulesCheckedAt >= rulesCheckEveryMs) {
      await recomputeOlderRules(this.#deps.db);
      this.#rulesCheckedAt = Date.now();
    }
    const { isDue, upcoming, now } = await this.#deps.db.run(lookAhead);
    this.#skewMs = now.getTime() - Date.now();
    const moved = isDue ? await this.#fireAll(signal) : 0;
    if (moved > 0) return 0;
    // What is held, or cannot even be skipped, delays nothing else that falls due.
    const retry = isDue ? this.#heldRetryMs : longestSleepMs;
    this.#heldRetryMs = isDue ? Math.min(2 * retry, heldRetryMs.most) : heldRetryMs.first;
    const wait = upcoming === null ? longestSleepMs : upcoming.getTime() - now.getTime();
    return Math.min(wait, retry, longestSleepMs);
  }

  /** Fire what is due: one batch, and where it was full, batch after batch in several lanes, until none is. */
  async #fireAll(signal: AbortSignal): Promise<number> {
    const first = await this.#fireBatch('longest');
    let { moved } = first;
    let more = first.claimed >= batchSize && moved > 0;
    let batches = 0;
    const lane = async (): Promise<void> => {
      while (more && !signal.aborted) {
        // Every third begins at the other end, so that what falls due during a herd does not wait for all of it.
        const batch = await this.#fireBatch(batches++ % 3 === 2 ? 'shortest' : 'longest').catch((error) => {
          more = false;
          throw error;
        });
        moved += batch.moved;
        if (batch.claimed < batchSize || batch.moved === 0) return;
        await rest(Math.min(yielding.times * batch.waitedMs, yielding.mostMs));
      }
    };
    // All have ended before the first failure is told.
    const ended = await Promise.allSettled(Array.from({ length: lanes[this.#deps.db.kind] }, lane));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
    return moved;
  }

  /** Fire one batch; answers how many schedules went on to their next occurrence. */
  async fireDue(): Promise<number> {
    return (await this.#fireBatch('longest')).moved;
  }

  async #fireBatch(first: 'longest' | 'shortest'): Promise<Batch> {
    const { span } = this.#deps;
    const batch = span
      ? await span('fire schedules', async (describe) => {
          const fired = await this.#batch(first);
          describe(described(fired));
          return fired;
        })
      : await this.#batch(first);
    const { reports } = batch;
    if (reports.length > 0) outsideTransaction(() => this.#deps.onFired?.(reports));
    return batch;
  }

  async #batch(first: 'longest' | 'shortest'): Promise<Batch> {
    const { db, log } = this.#deps;
    const begun = performance.now();
    let waitedMs = 0;
    let rows: DueRow[] = [];
    try {
      return await db.tx(async (tx) => {
        waitedMs = performance.now() - begun;
        rows = await claimDue(tx, batchSize, first);
        return { claimed: rows.length, waitedMs, byHalves: false, ...(await fireClaimed(tx, rows)) };
      });
    } catch (error) {
      if (rows.length === 0 || !isRowFault(error)) throw error;
      log.warn({ error: messageOf(error), schedules: rows.length }, 'a batch cannot fire: it is halved');
      const ids = rows.map(({ id }) => id);
      return { claimed: ids.length, waitedMs, byHalves: true, ...(await fireByHalves(db, ids, log)) };
    }
  }
}
