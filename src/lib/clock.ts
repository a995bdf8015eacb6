/**
 * The time of this process, in milliseconds since 1970. Passed in wherever a decision depends on it, so that
 * a test can move it. What the database stores is stamped by the database's own `platform_now()` instead.
 */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that tests move: it runs on, shifted by what `advance` has added. */
export class ShiftedClock implements Clock {
  offset = 0;
  now(): number {
    return Date.now() + this.offset;
  }
  advance(milliseconds: number): void {
    this.offset += milliseconds;
  }
}
