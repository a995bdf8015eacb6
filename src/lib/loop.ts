import { messageOf } from './errors.ts';
import type { Logger } from './log.ts';

/** setTimeout takes at most 2^31 - 1 ms; a longer sleep wakes early, finds nothing and sleeps again. */
const longestSleep = 2 ** 31 - 1;

export interface LoopOptions {
  name: string;
  log: Logger;
  /**
   * One turn. Answers how many milliseconds to sleep before the next one: 0 for at once, null for until woken.
   * `signal` is aborted when the loop is stopped.
   */
  tick: (signal: AbortSignal) => Promise<number | null>;
  /** How long to sleep after a turn that failed; doubled with each failure in a row up to `maxRetryMs`. */
  retryMs?: number;
  maxRetryMs?: number;
}

/**
 * A loop in the background: one turn at a time, a sleep between, and a wake-up that is never lost: a `wake`
 * during a turn makes the next turn follow at once. A turn that throws is logged and tried again.
 */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #woken = false;
  #endSleep: (() => void) | null = null;
  /**
   * When the sleeping loop will turn next, by performance.now(), as timers go whatever is done to the clock; 0 while it
   * turns, Infinity while it waits to be woken.
   */
  #nextTickAt = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /** Turn now, or right after the present turn. */
  wake(): void {
    this.#woken = true;
    this.#endSleep?.();
  }

  /** Turn in `milliseconds` at the latest; ignored where the next turn is no later than that anyway. */
  wakeWithin(milliseconds: number): void {
    if (performance.now() + milliseconds < this.#nextTickAt) this.wake();
    // A turn in progress may have read the state from before this call.
    else if (this.#nextTickAt === 0) this.#woken = true;
  }

  /** Stop: the present turn is told by its signal, and is waited for. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#endSleep?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { name, log, tick, retryMs = 200, maxRetryMs = 10_000 } = this.#options;
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      this.#woken = false;
      this.#nextTickAt = 0;
      let sleep: number | null;
      try {
        sleep = await tick(this.#stop.signal);
        failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        sleep = Math.min(maxRetryMs, retryMs * 2 ** Math.min(failures++, 20));
        log.error({ loop: name, error: messageOf(error), retry_in_ms: sleep }, 'loop turn failed');
      }
      if (sleep === 0) await new Promise((resolve) => setImmediate(resolve));
      else await this.#sleep(sleep);
    }
  }

  #sleep(milliseconds: number | null): Promise<void> {
    if (this.#woken || this.#stop.signal.aborted) return Promise.resolve();
    this.#nextTickAt = milliseconds === null ? Number.POSITIVE_INFINITY : performance.now() + milliseconds;
    return new Promise((resolve) => {
      const timer =
        milliseconds === null
          ? null
          : setTimeout(() => this.#endSleep?.(), Math.min(milliseconds, longestSleep));
      this.#endSleep = () => {
        if (timer) clearTimeout(timer);
        this.#endSleep = null;
        resolve();
      };
    });
  }
}
