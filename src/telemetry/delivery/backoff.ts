import { backOff } from '../../lib/back-off.ts';

/** The first retry comes after about this long, each further one after twice as long. */
const firstMs = 500;
const longestMs = 60_000;

/**
 * Returns the time to wait before the next attempt, in ms: exponential in the failures in a row (1 for the first),
 * between half and all of it at random so that many senders do not come back together; never less than `retryAfterMs`,
 * which the backend asked for. `random`: from 0 to 1.
 */
export const backoffMs = (failures: number, retryAfterMs: number | null, random: number): number => {
  const full = backOff(failures, firstMs, longestMs);
  return Math.max(Math.round(full * (0.5 + random / 2)), retryAfterMs ?? 0);
};
