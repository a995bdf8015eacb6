/**
 * The time of this process, in milliseconds since 1970. It is passed to everything that decides by it, so that a test
 * can move it. Times that the database stores come from its own `platform_now()` instead.
 */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock for tests. It runs on, shifted by the sum of all `advance`. */
export class ShiftedClock implements Clock {
  offset = 0;
  now(): number {
    return Date.now() + this.offset;
  }
  advance(milliseconds: number): void {
    this.offset += milliseconds;
  }
}
