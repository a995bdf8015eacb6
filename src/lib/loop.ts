import { backOff } from './back-off.ts';
import { messageOf } from './errors.ts';
import type { Logger } from './log.ts';

/** setTimeout takes at most 2^31 - 1 ms; a longer sleep wakes early, finds nothing and sleeps again. */
const longestSleep = 2 ** 31 - 1;

export interface LoopOptions {
  name: string;
  log: Logger;
  /**
   * One tick. Returns how many milliseconds to sleep before the next one: 0 for none, null for until it is woken.
   * `signal` is aborted when the loop is stopped.
   */
  tick: (signal: AbortSignal) => Promise<number | null>;
  /** The sleep after a tick that failed, in milliseconds. Each failure in a row doubles it, up to `maxRetryMs`. */
  retryMs?: number;
  maxRetryMs?: number;
}

/** The last tick of a loop, for the heartbeat of its replica. */
export interface LoopPass {
  name: string;
  /** The time since its last tick ended, in milliseconds; null before the first has. */
  idle_ms: number | null;
  /** The reason why that tick failed; null if it did not. */
  error: string | null;
}

/**
 * A loop in the background: one tick at a time with a sleep between two. No wake-up is lost: after a `wake` during a
 * tick the next tick follows at once. A tick that throws is logged and tried again.
 */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #woken = false;
  #endSleep: (() => void) | null = null;
  /**
   * When the next tick of the sleeping loop begins, by performance.now(), because timers ignore changes of the clock; 0
   * during a tick, Infinity while the loop waits to be woken.
   */
  #nextTickAt = 0;
  /** When a tick last ended, by performance.now(). */
  #endedAt: number | null = null;
  #error: string | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /** Starts the next tick now, or right after the current one. */
  wake(): void {
    this.#woken = true;
    this.#endSleep?.();
  }

  /** Starts the next tick within `milliseconds`. Ignored if it is due by then anyway. */
  wakeWithin(milliseconds: number): void {
    if (performance.now() + milliseconds < this.#nextTickAt) this.wake();
    // A tick in progress may have read the state before this call.
    else if (this.#nextTickAt === 0) this.#woken = true;
  }

  pass(): LoopPass {
    const idle = this.#endedAt === null ? null : Math.round(performance.now() - this.#endedAt);
    return { name: this.#options.name, idle_ms: idle, error: this.#error };
  }

  /** Aborts the signal of the current tick. Resolves when that tick has ended. */
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
        this.#error = null;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#error = messageOf(error);
        sleep = backOff(++failures, retryMs, maxRetryMs);
        log.error({ loop: name, error: messageOf(error), retry_in_ms: sleep }, 'loop tick failed');
      }
      this.#endedAt = performance.now();
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
