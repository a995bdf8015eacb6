/** An integration may always hold as much, or one that hangs would stop the others. */
const leastShare = 128 * 1024;

/** The memory of all exporters together: what they have read and not yet sent, or have sent and not yet been answered. */
export class Budget {
  #free: number;

  /** `bytes`: 64 MiB hold 16 full batches; with more backends that hang the batches get smaller. */
  constructor(bytes = 64 * 1024 * 1024) {
    this.#free = bytes;
  }

  /** Takes, or gives back where `bytes` is negative. */
  take(bytes: number): void {
    this.#free -= bytes;
  }

  /** How large the next batch may be: a quarter of what is free, so that there is always some left for the next. */
  share(): number {
    return Math.max(leastShare, Math.floor(this.#free / 4));
  }

  /** There is room for more than the one batch that everyone may hold. */
  hasRoom(): boolean {
    return this.#free > 4 * leastShare;
  }
}
