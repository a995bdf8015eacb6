import { setTimeout as sleep } from 'node:timers/promises';

/** How much longer than its time `until` waits on a machine that has other things to do, in milliseconds. */
const mostExtraMs = 90_000;

/**
 * Resolves to the first truthy result of `fn`, which is called every `everyMs` milliseconds. A throw counts as "not
 * yet". Throws after `timeoutMs` milliseconds, with the last error of `fn` as cause. A round counts as three pauses at
 * most (and 50 ms at least): a machine that stands still for a second has not waited for a second.
 */
export async function until<T>(
  fn: () => T | Promise<T>,
  timeoutMs = 10_000,
  everyMs = 20,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const mostOfRound = Math.max(50, 3 * everyMs);
  const deadline = performance.now() + timeoutMs + mostExtraMs;
  let waited = 0;
  let cause: unknown;
  for (;;) {
    const begun = performance.now();
    try {
      const result = await fn();
      if (result) return result as Exclude<T, undefined | null | false | 0 | ''>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (waited >= timeoutMs || performance.now() >= deadline) {
      const why = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`not so after ${timeoutMs} ms${why}`, { cause });
    }
    await sleep(Math.min(everyMs, Math.max(1, timeoutMs - waited)));
    waited += Math.min(mostOfRound, performance.now() - begun);
  }
}

/**
 * Waits if the next minute, hour or other unit of `unitMs` begins within `marginMs`: a test that reckons with the present
 * one must not end in the next.
 */
export const clearOfNext = async (unitMs: number, marginMs = 5_000): Promise<void> => {
  const left = unitMs - (Date.now() % unitMs);
  if (left < marginMs) await sleep(left + 10);
};
