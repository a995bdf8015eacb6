import { backoffMs } from './backoff.ts';
import type { DeliveryState } from './report.ts';

const probeEveryMs = 5 * 60_000;
/** So many spans refused, each alone, and none accepted since the last edit: the integration is wrong. */
const refusalsUntilPause = 16;

/**
 * What the answers so far say of one backend: whether it is paused, how often it failed in a row, and when to try
 * again. Knows no spans and no clock: times are ms since 1970, by the clock that is passed in.
 */
export class Standing {
  lastSuccessAt: number | null = null;
  /** Fit to be shown. */
  lastError: string | null = null;
  /** Nothing is sent but a probe now and then. */
  paused = false;
  /** 0 for at once. */
  nextAttemptAt = 0;
  /** Failures and pauses so far: a success says nothing new of a backend if it was sent before the last of them. */
  troubles = 0;
  /** Until a span was accepted, the refused ones may be the integration's fault. */
  acceptedSinceEdit = false;
  #refusedSinceEdit = 0;
  /** In a row. */
  #failures = 0;

  get state(): Exclude<DeliveryState, 'disabled'> {
    if (this.paused) return 'paused';
    return this.#failures > 0 ? 'retrying' : 'delivering';
  }

  /** Nothing is known of edited settings; where there was no edit, a test has shown that they are right. */
  startAnew(edited: boolean): void {
    if (edited) this.#refusedSinceEdit = 0;
    this.acceptedSinceEdit = !edited;
    this.goOn();
  }

  /** What was wrong is over. */
  goOn(): void {
    this.paused = false;
    this.#failures = 0;
    this.nextAttemptAt = 0;
  }

  /**
   * `sentAfter`: the `troubles` when the request was sent; `error`: why some of its spans were not taken all the same.
   * Answers whether it can go on, because nothing went wrong since.
   */
  accepted(error: string | null, sentAfter: number, now: number): boolean {
    this.acceptedSinceEdit = true;
    this.lastSuccessAt = now;
    if (sentAfter !== this.troubles) return false;
    this.lastError = error;
    return true;
  }

  /** A span alone was refused. Answers whether that is enough to blame the integration. */
  refused(error: string): boolean {
    this.lastError = error;
    return !this.acceptedSinceEdit && ++this.#refusedSinceEdit >= refusalsUntilPause;
  }

  /** From now on it is probed. Answers whether it was not paused before. */
  pause(error: string, now: number): boolean {
    const begins = !this.paused;
    this.paused = true;
    this.#refusedSinceEdit = 0;
    this.#stumble(error, now + probeEveryMs);
    return begins;
  }

  /** `askedMs`: how long the backend wants to be left alone; `random`: from 0 to 1. */
  retry(error: string, askedMs: number | null, sentAfter: number, now: number, random: number): void {
    // Requests that were under way together fail together: that is one failure.
    if (sentAfter === this.troubles) this.#failures++;
    const waitMs = this.paused ? probeEveryMs : backoffMs(this.#failures, askedMs, random);
    this.#stumble(error, now + waitMs);
  }

  #stumble(error: string, nextAttemptAt: number): void {
    this.troubles++;
    this.lastError = error;
    this.nextAttemptAt = Math.max(this.nextAttemptAt, nextAttemptAt);
  }
}
