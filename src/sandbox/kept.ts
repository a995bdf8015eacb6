import type { Child } from './child.ts';

/** How long a child that did its job is kept for the next question about the same files. */
export interface KeepLimits {
  /** Milliseconds since its last job. */
  idleMs: number;
  /** Milliseconds since it was started. */
  ageMs: number;
  jobs: number;
  /** Resident memory after a job, in KiB. */
  memoryKib: number;
}

const defaults: KeepLimits = { idleMs: 20_000, ageMs: 5 * 60_000, jobs: 200, memoryKib: 384 * 1024 };

interface Kept {
  key: string;
  child: Child;
  timer: NodeJS.Timeout;
}

/** Children that wait for a further job of the same asker about the same files: one for each key, which says both. */
export class KeptChildren {
  readonly #limits: KeepLimits;
  /** The one that has waited longest is the first. */
  #kept: Kept[] = [];
  readonly #ending = new Set<Promise<void>>();

  constructor(limits: Partial<KeepLimits> = {}) {
    this.#limits = { ...defaults, ...limits };
  }

  get count(): number {
    return this.#kept.length;
  }

  /** Whether a child that just did a job may do another. */
  mayStay({ jobs, startedAt, memoryKib }: Child): boolean {
    const { ageMs, jobs: most, memoryKib: mostKib } = this.#limits;
    return jobs < most && performance.now() - startedAt < ageMs && memoryKib <= mostKib;
  }

  put(key: string, child: Child): void {
    const end = () => void this.#end((one) => one.child === child);
    const timer = setTimeout(end, this.#limits.idleMs);
    timer.unref();
    void this.#end((one) => one.key === key);
    this.#kept.push({ key, child, timer });
    void child.closed.then(end);
  }

  /** The child that was kept for `key`, which is then not kept any more. */
  take(key: string): Child | undefined {
    const [found] = this.#remove((one) => one.key === key);
    return found?.child;
  }

  /** Ends the one that has waited longest. Resolves when it is gone. */
  async endOldest(): Promise<void> {
    const [oldest] = this.#kept;
    await this.#end((one) => one === oldest);
  }

  /** Resolves when all are gone, also those that were about to end. */
  async endAll(): Promise<void> {
    await this.#end(() => true);
    await Promise.all(this.#ending);
  }

  async #end(which: (one: Kept) => boolean): Promise<void> {
    const ends = this.#remove(which).map(({ child }) => {
      // What could not be removed of a folder is removed at the next start.
      const end: Promise<void> = child
        .end()
        .catch(() => {})
        .finally(() => this.#ending.delete(end));
      this.#ending.add(end);
      return end;
    });
    await Promise.all(ends);
  }

  #remove(which: (one: Kept) => boolean): Kept[] {
    const removed = this.#kept.filter(which);
    this.#kept = this.#kept.filter((one) => !removed.includes(one));
    for (const { timer } of removed) clearTimeout(timer);
    return removed;
  }
}
