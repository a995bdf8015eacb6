import { retryInMs } from '../../lib/retry-after.ts';

const seconds = 1_000;
const minutes = 60 * seconds;

/** Delays after the first failed attempt, the second, and so on, in milliseconds. The last one repeats. */
const delaysMs = [5 * seconds, 30 * seconds, 2 * minutes, 5 * minutes];

/**
 * Returns how long to wait after `failures` failed attempts in a row, in milliseconds. `retryAfterMs` is what the receiver
 * asked for. `random` is from 0 to 1.
 */
export const retryDelayMs = (
  failures: number,
  retryAfterMs: number | null,
  random: number = Math.random(),
): number => {
  const delay = delaysMs[Math.min(failures, delaysMs.length) - 1]!;
  return retryInMs(delay, retryAfterMs, random);
};
