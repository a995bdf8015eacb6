/** The first retry comes after about this long, each further one after twice as long. */
const firstMs = 500;
const longestMs = 60_000;
/** What a backend may ask for at most: beyond it a mistyped Retry-After would be a loss. */
const longestAskedMs = 24 * 3_600_000;

/**
 * How long to wait before the next attempt, in ms: exponential in the failures in a row (1 for the first),
 * between half and all of it at random so that many senders do not come back together; never less than what
 * the backend asked for. `random`: from 0 to 1.
 */
export const backoffMs = (failures: number, askedMs: number | null, random: number): number => {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(Math.round(full * (0.5 + random / 2)), askedMs ?? 0);
};

/** `Retry-After` (RFC 9110, 10.2.3) as ms from `now`: seconds or an HTTP date; null where it is absent or neither. */
export const retryAfterMs = (header: string | undefined, now: number): number | null => {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(asked) ? null : Math.min(longestAskedMs, Math.max(0, asked));
};
