/** What a server may ask for at most: beyond it a mistyped Retry-After would be a loss. */
const longestMs = 24 * 3_600_000;

/** `Retry-After` (RFC 9110, 10.2.3) as ms from `now`: seconds or an HTTP date; null where it is absent or neither. */
export const retryAfterMs = (header: string | undefined, now: number): number | null => {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(asked) ? null : Math.min(longestMs, Math.max(0, asked));
};
