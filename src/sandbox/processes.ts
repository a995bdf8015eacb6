import { unavailable } from '../lib/errors.ts';
import { FairQueue, type TakeOptions } from '../lib/fair-queue.ts';
import { Child } from './child.ts';
import type { Library } from './jobs.ts';

/** Time that a child that waits in advance is kept, in milliseconds. */
const keepSpareMs = 60_000;

/** Libraries that pages need in one request after the other and that take 100 ms to load. */
const inAdvance: readonly Library[] = ['duckdb'];

/**
 * At most `max()` children at once; others wait for their turn, divided fairly between people. After a job of a library
 * of `inAdvance` one child may wait for the next: it has loaded its library and read nothing. It counts, and ends when
 * another job needs its place.
 */
export class Processes {
  readonly #folder: string;
  readonly #max: () => number;
  readonly #program: string | undefined;
  readonly #running = new Set<Child>();
  readonly #queue: FairQueue;
  #spare: { child: Child; timer: NodeJS.Timeout } | null = null;
  /** Settles when the spare that is being started is there. */
  #preparing: Promise<void> | null = null;
  #stopped = false;

  constructor(folder: string, max: () => number, program?: string) {
    this.#folder = folder;
    this.#max = max;
    this.#program = program;
    this.#queue = new FairQueue(max, 'All processes for files and queries are busy.');
  }

  /**
   * Runs `fn` for `root` (`Principal.rootId`) with a child for `library`, which ends with it. When the promise rejects, the
   * child and its folder are gone; after a result that is so a moment later, and its place is free then. Throws 503 if no
   * place becomes free within `waitMs`; null waits as long as it takes.
   */
  async use<T>(
    root: string,
    library: Library,
    options: TakeOptions,
    fn: (child: Child) => Promise<T>,
  ): Promise<T> {
    const release = await this.#queue.take(root, options);
    let child: Child;
    try {
      child = await this.#childFor(library);
    } catch (error) {
      release();
      throw error;
    }
    this.#running.add(child);
    const end = async (): Promise<void> => {
      try {
        await child.end();
      } finally {
        this.#running.delete(child);
        release();
        if (inAdvance.includes(library)) this.#prepareSpare(library);
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
    this.#queue.stop();
    await this.#preparing;
    await this.#endSpare();
    await Promise.all([...this.#running].map((child) => child.end()));
  }

  /** The spare, or a new child, for someone who has a place. */
  async #childFor(library: Library): Promise<Child> {
    await this.#preparing;
    const spare = this.#takeSpare(library);
    if (spare) return spare;
    if (this.#spare && this.#queue.taken >= this.#max()) await this.#endSpare();
    if (this.#stopped) throw unavailable('The platform is stopping.');
    return Child.start(library, this.#folder, this.#program);
  }

  #takeSpare(library: Library): Child | null {
    if (this.#spare?.child.library !== library) return null;
    const { child, timer } = this.#spare;
    clearTimeout(timer);
    this.#spare = null;
    return child;
  }

  #prepareSpare(library: Library): void {
    if (this.#stopped || this.#spare || this.#preparing || this.#queue.taken >= this.#max()) return;
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
