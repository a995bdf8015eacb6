/** A longer read takes at most this part of the time. */
const mostOfTheTime = 1 / 50;
/** A read that is no longer, in milliseconds, is made each time. */
const shortMs = 250;

interface Known<T> {
  value: T;
  /** When its read began, and how long that took, in milliseconds. */
  at: number;
  tookMs: number;
}

/**
 * Spares the database a read whose time grows with the history: one that took a second is made again after 50 at the
 * earliest, beside its callers, who get the value before. Calls at the same time share one read. A failure is not kept.
 */
export class SparedRead<T> {
  readonly #clock: () => number;
  #known: Known<T> | null = null;
  #underWay: Promise<T> | null = null;

  /** `clock` counts milliseconds; no one sets it. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Resolves to the value; if it takes long to read, to one that is at most 100 times as old as that. */
  async value(read: () => Promise<T>): Promise<T> {
    const known = this.#known;
    if (known && known.tookMs > shortMs) {
      const restMs = known.tookMs / mostOfTheTime;
      const ageMs = this.#clock() - known.at;
      if (ageMs < restMs) return known.value;
      // A value that is older than this may be of yesterday, because nobody has asked since.
      if (ageMs <= 2 * restMs) {
        // Its failure is that of the next caller, if it is one that lasts.
        this.#readOnce(read).catch(() => {});
        return known.value;
      }
    }
    return this.#readOnce(read);
  }

  #readOnce(read: () => Promise<T>): Promise<T> {
    this.#underWay ??= this.#readNow(read).finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async #readNow(read: () => Promise<T>): Promise<T> {
    const at = this.#clock();
    try {
      const value = await read();
      this.#known = { value, at, tookMs: this.#clock() - at };
      return value;
    } catch (error) {
      this.#known = null;
      throw error;
    }
  }
}
