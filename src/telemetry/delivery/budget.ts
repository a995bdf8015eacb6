/** An integration may always hold this much, or one that hangs would stop the others. */
const minShare = 128 * 1024;

/** The memory of all exporters together: what they have read and not sent yet, or sent without a response so far. */
export class Budget {
  #free: number;

  /** `bytes`: 64 MiB hold 16 full batches; with more backends that hang the batches get smaller. */
  constructor(bytes = 64 * 1024 * 1024) {
    this.#free = bytes;
  }

  /** Takes bytes, or gives them back if `bytes` is negative. */
  take(bytes: number): void {
    this.#free -= bytes;
  }

  /** Returns the limit of the next batch: a quarter of the free bytes, so that some are always left for the next. */
  share(): number {
    return Math.max(minShare, Math.floor(this.#free / 4));
  }

  /** Returns whether there is room for more than the one batch that every integration may hold. */
  hasRoom(): boolean {
    return this.#free > 4 * minShare;
  }
}
