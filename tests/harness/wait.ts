import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `fn` returns something truthy, and returns that. A throw counts as "not yet".
 * `timeoutMs` and `everyMs` in milliseconds. Throws when the time is over, with the last error of `fn` as cause.
 */
export async function until<T>(
  fn: () => T | Promise<T>,
  timeoutMs = 10_000,
  everyMs = 20,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const result = await fn();
      if (result) return result as Exclude<T, undefined | null | false | 0 | ''>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) {
      const why = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`not so after ${timeoutMs} ms${why}`, { cause });
    }
    await sleep(Math.min(everyMs, Math.max(1, deadline - Date.now())));
  }
}
