/** The longest wait that is accepted: a mistyped Retry-After must not delay delivery for longer. */
const longestMs = 24 * 3_600_000;

/**
 * Returns `Retry-After` (RFC 9110, 10.2.3), seconds or an HTTP date, in ms from `now`; null if it is absent or
 * malformed.
 */
export const retryAfterMs = (header: string | undefined, now: number): number | null => {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(waitMs) ? null : Math.min(longestMs, Math.max(0, waitMs));
};

/** A share of the delay that is added or taken away, so that many failures at once do not return at once. */
const jitter = 0.2;

/**
 * Returns how long to wait after a failed attempt, in milliseconds: `delayMs` give or take a fifth, but as long as the
 * receiver asked for. `random` is from 0 to 1.
 */
export const retryInMs = (delayMs: number, askedForMs: number | null, random: number): number =>
  Math.round(Math.max(delayMs * (1 - jitter + 2 * jitter * random), askedForMs ?? 0));
