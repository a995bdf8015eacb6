import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './log.ts';
import { Loop, type LoopPass } from './loop.ts';

/** Attempts in flight at once on a replica, and to one destination. */
const atOnce = 64;
const atOncePerDestination = 8;
/** Longer than an attempt may take: only what a lost replica had in flight is sent by another one. */
const leaseSeconds = 20;
/** The longest time between two looks at what is due, in case a notification was lost. */
const longestSleepMs = 60_000;
/** Delay before what is due and locked by another replica is looked at again. */
const retryMs = 100;

/** What a claim may take: so many in all, and of one destination only up to `perDestination` with those in flight. */
export interface ClaimLimits {
  limit: number;
  perDestination: number;
  inFlight: ReadonlyMap<string, number>;
  leaseSeconds: number;
}

export interface AttemptLoopOptions<T> {
  name: string;
  log: Logger;
  /** Time that attempts may continue after a stop before they are aborted, in milliseconds. */
  graceMs: number;
  /** Claims what is due, for as long as the lease says. */
  claim(limits: ClaimLimits): Promise<readonly T[]>;
  /** Milliseconds until the next is due, except for destinations that are full; null if none is. */
  nextIn(full: readonly string[]): Promise<number | null>;
  destinationOf(claimed: T): string;
  /** Makes one attempt and stores what came of it. `signal` ends it when this replica stops. Never rejects. */
  attempt(claimed: T, signal: AbortSignal): Promise<void>;
}

/**
 * The loop of one replica that claims what is due and sends it: many at once, few of them to one destination, so that a slow
 * one holds up no other. While the lease of a claim runs, no other replica sends the same.
 */
export class AttemptLoop<T> {
  readonly #options: AttemptLoopOptions<T>;
  readonly #inFlight = new Set<{ destination: string; done: Promise<void> }>();
  readonly #abort = new AbortController();
  readonly #loop: Loop;
  /** Something may be due. */
  readonly wake = () => this.#loop.wake();

  constructor(options: AttemptLoopOptions<T>) {
    this.#options = options;
    this.#loop = new Loop({ name: options.name, log: options.log, tick: () => this.#tick() });
  }

  start(): void {
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Claims no more, lets attempts end for a moment, and aborts the others. */
  async stop(): Promise<void> {
    const { graceMs } = this.#options;
    await this.#loop.stop();
    const all = Promise.all([...this.#inFlight].map(({ done }) => done));
    await Promise.race([all, sleep(graceMs, undefined, { ref: false })]);
    this.#abort.abort();
    await Promise.race([all, sleep(graceMs, undefined, { ref: false })]);
  }

  async #tick(): Promise<number | null> {
    const { claim, nextIn, destinationOf } = this.#options;
    const limit = atOnce - this.#inFlight.size;
    // The end of an attempt wakes the loop.
    if (limit === 0) return longestSleepMs;
    const inFlight = new Map<string, number>();
    const add = (destination: string) => inFlight.set(destination, (inFlight.get(destination) ?? 0) + 1);
    for (const { destination } of this.#inFlight) add(destination);
    for (const claimed of await claim({
      limit,
      perDestination: atOncePerDestination,
      inFlight,
      leaseSeconds,
    })) {
      this.#start(claimed);
      add(destinationOf(claimed));
    }
    const full = [...inFlight].filter(([, n]) => n >= atOncePerDestination).map(([name]) => name);
    const next = await nextIn(full);
    return Math.min(longestSleepMs, Math.max(retryMs, next ?? longestSleepMs));
  }

  #start(claimed: T): void {
    const { attempt, destinationOf } = this.#options;
    const flight = {
      destination: destinationOf(claimed),
      done: attempt(claimed, this.#abort.signal).finally(() => {
        this.#inFlight.delete(flight);
        this.#loop.wake();
      }),
    };
    this.#inFlight.add(flight);
  }
}
