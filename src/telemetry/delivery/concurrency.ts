/** Most backends take a few requests at a time from one sender; more would be an attack. */
const maxRequests = 16;
/**
 * Shortest interval between checks of the backlog: in this time it moves by more than bursts and group commits move it.
 */
const checkEveryMs = 100;

/**
 * Number of requests that may be in flight to one backend: one, and more only while the backlog grows. What is queued is compared with what it was at the last check, and with what was delivered since. A backlog that
 * the current pace clears by the next check does not count.
 */
export class Concurrency {
  allowed = 1;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Requests since the last check. */
  #requests = 0;
  #spans = 0;
  /** Spans that were queued at the last check. */
  #queued = Number.POSITIVE_INFINITY;

  /** Resets the limit after an outage, after an edit, and when nothing waits any more. */
  reset(): void {
    this.allowed = 1;
    this.#requests = 0;
    this.#spans = 0;
    this.#queued = Number.POSITIVE_INFINITY;
  }

  /**
   * The cursor has passed this many requests and spans. `backlog`: spans that are queued, and those of them not under
   * way; `now` in ms.
   */
  passed(
    requests: number,
    spans: number,
    backlog: () => { queued: number; waiting: number },
    now: number,
  ): void {
    this.#requests += requests;
    this.#spans += spans;
    // A whole round of requests at the present pace, or the last change cannot have shown yet.
    if (this.#requests < this.allowed || now - this.#checkedAt < checkEveryMs) return;
    const { queued, waiting } = backlog();
    if (waiting > this.#spans && queued >= this.#queued) {
      this.allowed = Math.min(maxRequests, this.allowed + 1);
    } else if (waiting < this.#spans / 2) this.allowed = Math.max(1, this.allowed - 1);
    this.#checkedAt = now;
    this.#requests = 0;
    this.#spans = 0;
    this.#queued = queued;
  }
}
