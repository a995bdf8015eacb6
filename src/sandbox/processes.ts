import { unavailable } from '../lib/errors.ts';
import { FairQueue, type TakeOptions } from '../lib/fair-queue.ts';
import { Child } from './child.ts';
import type { Library } from './jobs.ts';
import { type KeepLimits, KeptChildren } from './kept.ts';

/** Time that a child that waits in advance is kept, in milliseconds. */
const keepSpareMs = 60_000;

/**
 * Time without a job after which one is started beside one that is kept, in milliseconds. The start takes 0.25 s of
 * processor time, which the next question of a series would otherwise wait for.
 */
const spareAfterMs = 150;

/** Libraries that pages need in one request after the other and that take 100 ms to load. */
const inAdvance: readonly Library[] = ['duckdb'];

interface UseOptions extends TakeOptions {
  /** Says who asks about which files: the next `use` with the same gets this child, if `fn` let it live. */
  keepFor?: string | null;
}

/**
 * At most `max()` children at once; others wait for their turn, divided fairly between people. After a job of a library
 * of `inAdvance` one child may wait for the next: it has loaded its library and read nothing. Others that did a job are
 * kept for the same asker (`keepFor`). Both count, and end when another job needs their place.
 */
export class Processes {
  readonly #folder: string;
  readonly #max: () => number;
  readonly #program: string | undefined;
  readonly #running = new Set<Child>();
  readonly #queue: FairQueue;
  readonly #kept: KeptChildren;
  #spare: { child: Child; timer: NodeJS.Timeout } | null = null;
  /** Settles when the spare that is being started is there. */
  #preparing: Promise<void> | null = null;
  #spareSoon: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The number of times that all that are kept were ended. */
  #endings = 0;

  constructor(folder: string, max: () => number, program?: string, limits: Partial<KeepLimits> = {}) {
    this.#folder = folder;
    this.#max = max;
    this.#program = program;
    this.#kept = new KeptChildren(limits);
    this.#queue = new FairQueue(max, 'All processes for files and queries are busy.');
  }

  /**
   * Runs `fn` for `root` (`Principal.rootId`) with a child for `library`, which ends with it or is kept. When the promise
   * rejects, the child and its folder are gone; after a result that is so a moment later, and its place is free then.
   * Throws 503 if no place becomes free within `waitMs`; null waits as long as it takes.
   */
  async use<T>(
    root: string,
    library: Library,
    { keepFor = null, ...options }: UseOptions,
    fn: (child: Child) => Promise<T>,
  ): Promise<T> {
    const endings = this.#endings;
    const release = await this.#queue.take(root, options);
    let child: Child;
    try {
      child = (keepFor === null ? undefined : this.#kept.take(keepFor)) ?? (await this.#childFor(library));
    } catch (error) {
      release();
      throw error;
    }
    this.#running.add(child);
    const free = (spareInMs: number): void => {
      this.#running.delete(child);
      release();
      if (!inAdvance.includes(library)) return;
      clearTimeout(this.#spareSoon);
      this.#spareSoon = setTimeout(() => this.#prepareSpare(library), spareInMs).unref();
    };
    const end = () => child.end().finally(() => free(0));
    try {
      const result = await fn(child);
      if (keepFor !== null && endings === this.#endings && !this.#stopped && this.#kept.mayStay(child)) {
        this.#keep(keepFor, child);
        free(spareAfterMs);
        return result;
      }
      // A large process takes 50 ms to be gone, and no one who has its result waits for that. What could not be removed
      // of its folder is removed at the next start.
      void end().catch(() => {});
      return result;
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Ends all children that are kept, also those that would be kept after the job that they do. */
  async endKept(): Promise<void> {
    this.#endings++;
    await this.#kept.endAll();
  }

  /** Ends all children. Nothing runs and nothing begins afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue.stop();
    await this.#preparing;
    await this.#endSpare();
    await this.endKept();
    await Promise.all([...this.#running].map((child) => child.end()));
  }

  /** The spare, or a new child, for someone who has a place. */
  async #childFor(library: Library): Promise<Child> {
    await this.#preparing;
    const spare = this.#takeSpare(library);
    if (spare) return spare;
    while (this.#kept.count > 0 && this.#isFull(0)) await this.#kept.endOldest();
    if (this.#spare && this.#isFull(0)) await this.#endSpare();
    if (this.#stopped) throw unavailable('The platform is stopping.');
    return Child.start(library, this.#folder, this.#program);
  }

  /** Keeps a child that did its job, in the place that it has. One place is left for others, if there are two. */
  #keep(key: string, child: Child): void {
    this.#kept.put(key, child);
    if (this.#kept.count > Math.max(1, this.#max() - 1)) void this.#kept.endOldest();
  }

  /** Whether `more` children are too many beside those that work and those that wait. */
  #isFull(more: number): boolean {
    return this.#queue.taken + this.#kept.count + (this.#spare ? 1 : 0) + more > this.#max();
  }

  #takeSpare(library: Library): Child | null {
    if (this.#spare?.child.library !== library) return null;
    const { child, timer } = this.#spare;
    clearTimeout(timer);
    this.#spare = null;
    return child;
  }

  #prepareSpare(library: Library): void {
    if (this.#stopped || this.#spare || this.#preparing || this.#isFull(1)) return;
    this.#preparing = this.#startSpare(library).finally(() => {
      this.#preparing = null;
    });
  }

  async #startSpare(library: Library): Promise<void> {
    const child = await Child.start(library, this.#folder, this.#program).catch(() => null);
    if (!child || this.#stopped) return child?.end();
    const timer = setTimeout(() => void this.#endSpare(), keepSpareMs);
    timer.unref();
    const spare = { child, timer };
    this.#spare = spare;
    void child.closed.then(() => (this.#spare === spare ? this.#endSpare() : undefined));
  }

  async #endSpare(): Promise<void> {
    if (!this.#spare) return;
    const { child, timer } = this.#spare;
    clearTimeout(timer);
    this.#spare = null;
    await child.end();
  }
}
