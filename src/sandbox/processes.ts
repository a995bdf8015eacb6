import { unavailable } from '../lib/errors.ts';
import { Child } from './child.ts';
import type { Library } from './jobs.ts';

/** How long a child that waits in advance is kept, in milliseconds. */
const keepSpareMs = 60_000;

/** What pages ask for, one after the other, and takes 100 ms to load. */
const inAdvance: readonly Library[] = ['duckdb'];

/**
 * At most `max()` children at once; others wait for their turn. After a job of a library of `inAdvance` one child
 * may wait for the next: it has loaded its library and read nothing. It counts, and ends when another job needs its place.
 */
export class Processes {
  readonly #folder: string;
  readonly #max: () => number;
  readonly #program: string | undefined;
  readonly #running = new Set<Child>();
  /** Places taken, also while a child starts or ends. */
  #taken = 0;
  #spare: { child: Child; timer: NodeJS.Timeout } | null = null;
  readonly #waiting: (() => void)[] = [];
  #stopped = false;

  constructor(folder: string, max: () => number, program?: string) {
    this.#folder = folder;
    this.#max = max;
    this.#program = program;
  }

  /**
   * Runs `fn` with a child for `library`, which ends with it. When the promise rejects, the child and its folder are gone;
   * after a result that is so a moment later, and its place is free then. Throws 503 if no place becomes free within `waitMs`; null waits as long as it takes.
   */
  async use<T>(
    library: Library,
    { waitMs, signal }: { waitMs: number | null; signal?: AbortSignal },
    fn: (child: Child) => Promise<T>,
  ): Promise<T> {
    const child = this.#takeSpare(library) ?? (await this.#start(library, waitMs, signal));
    this.#running.add(child);
    const end = async (): Promise<void> => {
      try {
        await child.end();
      } finally {
        this.#running.delete(child);
        this.#release(library);
      }
    };
    try {
      const result = await fn(child);
      // A large process takes 50 ms to be gone, and no one who has its result waits for that. What could not be removed
      // of its folder is removed at the next start.
      void end().catch(() => {});
      return result;
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Ends all children. Nothing runs and nothing begins afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await this.#endSpare();
    await Promise.all([...this.#running].map((child) => child.end()));
  }

  async #start(library: Library, waitMs: number | null, signal?: AbortSignal): Promise<Child> {
    await this.#takePlace(waitMs, signal);
    try {
      if (this.#stopped) throw unavailable('The platform is stopping.');
      return await Child.start(library, this.#folder, this.#program);
    } catch (error) {
      this.#release(library);
      throw error;
    }
  }

  /** The child that waits, which brings its place with it. */
  #takeSpare(library: Library): Child | null {
    if (this.#spare?.child.library !== library) return null;
    const { child, timer } = this.#spare;
    clearTimeout(timer);
    this.#spare = null;
    return child;
  }

  async #takePlace(waitMs: number | null, signal?: AbortSignal): Promise<void> {
    const tooLate = waitMs === null ? null : AbortSignal.timeout(waitMs);
    while (!this.#stopped && this.#taken >= this.#max()) {
      // Its event was sent before anyone listened here.
      signal?.throwIfAborted();
      if (this.#spare) {
        await this.#endSpare();
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          for (const by of [tooLate, signal]) by?.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = () => {
          const index = this.#waiting.indexOf(wake);
          if (index !== -1) this.#waiting.splice(index, 1);
          wake();
        };
        for (const by of [tooLate, signal]) by?.addEventListener('abort', giveUp);
        this.#waiting.push(wake);
      });
      if (signal?.aborted || (tooLate?.aborted && this.#taken >= this.#max())) {
        // This one may have been woken for a place that it does not take.
        this.#waiting.shift()?.();
        signal?.throwIfAborted();
        throw unavailable('All processes for files and queries are busy.', 5);
      }
    }
    this.#taken++;
  }

  #release(library: Library): void {
    this.#taken--;
    const next = this.#waiting.shift();
    if (next) next();
    else if (inAdvance.includes(library)) void this.#prepareSpare(library);
  }

  async #prepareSpare(library: Library): Promise<void> {
    if (this.#stopped || this.#spare || this.#taken >= this.#max()) return;
    this.#taken++;
    const child = await Child.start(library, this.#folder, this.#program).catch(() => null);
    if (!child || this.#stopped || this.#spare) {
      await child?.end();
      this.#taken--;
      return;
    }
    const timer = setTimeout(() => void this.#endSpare(), keepSpareMs);
    timer.unref();
    const spare = { child, timer };
    this.#spare = spare;
    void child.closed.then(() => (this.#spare === spare ? this.#endSpare() : undefined));
    // Someone who came in the meantime takes its place.
    this.#waiting.shift()?.();
  }

  async #endSpare(): Promise<void> {
    if (!this.#spare) return;
    const { child, timer } = this.#spare;
    clearTimeout(timer);
    this.#spare = null;
    await child.end();
    this.#taken--;
    this.#waiting.shift()?.();
  }
}
