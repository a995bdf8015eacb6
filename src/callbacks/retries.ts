import { retryInMs } from '../lib/retry-after.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** Delays after the first failed attempt, the second, and so on, in milliseconds. After the last the delivery ends. */
const delaysMs = [
  5 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
];

/**
 * Returns how long to wait after `failures` failed attempts in a row, in milliseconds; null if there is no other
 * attempt. `retryAfterMs` is what the receiver asked for. `random` is from 0 to 1.
 */
export const retryDelayMs = (
  failures: number,
  retryAfterMs: number | null,
  random: number = Math.random(),
): number | null => {
  const delay = delaysMs[failures - 1];
  if (delay === undefined) return null;
  return retryInMs(delay, retryAfterMs, random);
};
