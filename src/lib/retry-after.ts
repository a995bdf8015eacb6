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
