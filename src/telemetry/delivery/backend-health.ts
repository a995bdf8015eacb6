import { backoffMs } from './backoff.ts';
import type { DeliveryState } from './report.ts';

const probeEveryMs = 5 * 60_000;
/** After this many spans refused alone, with none accepted since the last edit, the settings are to blame. */
const refusalsUntilPause = 16;

/**
 * The health of one backend, from its responses so far: whether it is paused, how often it failed in a row, and when
 * to try again. Knows no spans and no clock: times are ms since 1970, by the clock that is passed in.
 */
export class BackendHealth {
  lastSuccessAt: number | null = null;
  /** Message that can be shown to users. */
  lastError: string | null = null;
  /** True if only a probe is sent from time to time. */
  paused = false;
  /** Time in ms; 0: at once. */
  nextAttemptAt = 0;
  /** Failures and pauses so far. A success says nothing new of a backend if it was sent before the last of them. */
  incidents = 0;
  /** False: the settings may be the reason why spans were refused. */
  acceptedSinceEdit = false;
  #refusedSinceEdit = 0;
  /** Failures in a row. */
  #failures = 0;

  get state(): Exclude<DeliveryState, 'disabled'> {
    if (this.paused) return 'paused';
    return this.#failures > 0 ? 'retrying' : 'delivering';
  }

  /** Resets the health after an edit, with settings of which nothing is known, or after a test that succeeded. */
  reset(edited: boolean): void {
    if (edited) this.#refusedSinceEdit = 0;
    this.acceptedSinceEdit = !edited;
    this.resume();
  }

  /** Ends a pause: its cause is over. */
  resume(): void {
    this.paused = false;
    this.#failures = 0;
    this.nextAttemptAt = 0;
  }

  /**
   * A request was accepted. `error`: why the backend rejected some of its spans; `sentAfter`: `incidents` when it was
   * sent. Returns whether delivery can resume, because nothing went wrong since.
   */
  accepted(error: string | null, sentAfter: number, now: number): boolean {
    this.acceptedSinceEdit = true;
    this.lastSuccessAt = now;
    if (sentAfter !== this.incidents) return false;
    this.lastError = error;
    return true;
  }

  /** A span was refused alone. Returns whether that is enough to blame the settings. */
  refused(error: string): boolean {
    this.lastError = error;
    return !this.acceptedSinceEdit && ++this.#refusedSinceEdit >= refusalsUntilPause;
  }

  /** Pauses delivery: the backend is only probed from now on. Returns whether it was not paused before. */
  pause(error: string, now: number): boolean {
    const begins = !this.paused;
    this.paused = true;
    this.#refusedSinceEdit = 0;
    this.#failed(error, now + probeEveryMs);
    return begins;
  }

  /** `retryAfterMs`: how long the backend asks to wait; `random`: from 0 to 1. */
  retry(error: string, retryAfterMs: number | null, sentAfter: number, now: number, random: number): void {
    // Requests that were in flight together fail together: that is one failure.
    if (sentAfter === this.incidents) this.#failures++;
    const waitMs = this.paused ? probeEveryMs : backoffMs(this.#failures, retryAfterMs, random);
    this.#failed(error, now + waitMs);
  }

  #failed(error: string, nextAttemptAt: number): void {
    this.incidents++;
    this.lastError = error;
    this.nextAttemptAt = Math.max(this.nextAttemptAt, nextAttemptAt);
  }
}
