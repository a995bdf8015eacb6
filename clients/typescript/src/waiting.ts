/** Resolves after `milliseconds`; rejects with the signal's reason when it aborts. */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });

const longest = 60_000;

/**
 * Milliseconds until the next try after the `n`th, at most a minute: what `Retry-After` says (RFC 9110, 10.2.3: seconds or
 * a date), otherwise 0.5 s, 1 s, 2 s and so on, less up to a half at random, so that clients do not come back together.
 */
export const retryDelay = (n: number, retryAfter: string | null): number => {
  const seconds = Number(retryAfter);
  if (retryAfter !== null && Number.isFinite(seconds)) return Math.min(Math.max(seconds, 0) * 1_000, longest);
  const at = retryAfter === null ? Number.NaN : Date.parse(retryAfter);
  if (!Number.isNaN(at)) return Math.min(Math.max(at - Date.now(), 0), longest);
  return Math.min(500 * 2 ** (n - 1), longest) * (1 - Math.random() / 2);
};
