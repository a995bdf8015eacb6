import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../message-of.ts';
import type { Logger } from './logger.ts';

const retryMs = 200;
const maxRetryMs = 2_000;

/**
 * A loop in the background: one tick at a time, and between two a sleep of as many milliseconds as the first resolves
 * to. A tick that throws is logged and tried again after 0.2 s, and after each failure in a row twice as long, up to 2 s.
 */
export class Background {
  readonly #name: string;
  readonly #log: Logger;
  readonly #tick: () => Promise<number>;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(name: string, log: Logger, tick: () => Promise<number>) {
    this.#name = name;
    this.#log = log;
    this.#tick = tick;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the current tick has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      let pause: number;
      try {
        pause = await this.#tick();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        pause = Math.min(maxRetryMs, retryMs * 2 ** Math.min(failures++, 20));
        this.#log.error(
          { loop: this.#name, error: messageOf(error), retry_in_ms: pause },
          'loop tick failed',
        );
      }
      await sleep(pause, null, { signal }).catch(() => {});
    }
  }
}
