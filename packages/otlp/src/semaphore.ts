/** Lets at most N run at once; the others wait, first in, first out. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Runs `fn` when fewer than N run. Resolves and rejects as `fn` does. */
  async run<T>(fn: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((proceed) => this.#waiting.push(proceed));
    try {
      return await fn();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/** Lets one run at a time. */
export class Mutex extends Semaphore {
  constructor() {
    super(1);
  }
}
