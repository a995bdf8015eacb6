import { setTimeout as sleep } from 'node:timers/promises';

/** Results of requests that were sent at a steady rate. */
export interface Sent {
  /** Milliseconds of each that succeeded, from when it was to be sent. */
  took: number[];
  failed: number;
  /** Reason why the first one failed. */
  failure: string | null;
}

/** Limit of the requests of one kind that are open at once. More would measure this computer, and not the platform. */
const mostOpen = 200;

/**
 * Calls `send` `perSecond` times a second for `seconds`, however long one takes. The time of a request counts from when
 * it was to be sent, so that none is left out because those before it were slow. Resolves when all have ended.
 */
export const steadily = async (
  perSecond: number,
  seconds: number,
  send: () => Promise<void>,
  signal: AbortSignal,
): Promise<Sent> => {
  const sent: Sent = { took: [], failed: 0, failure: null };
  const open = new Set<Promise<void>>();
  const begun = performance.now();
  for (let n = 0; n < perSecond * seconds && !signal.aborted; n++) {
    const due = begun + (n * 1_000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
    while (open.size >= mostOpen) await Promise.race(open);
    const one = send()
      .then(() => void sent.took.push(performance.now() - due))
      .catch((error: Error) => {
        sent.failed++;
        sent.failure ??= error.message;
      })
      .finally(() => open.delete(one));
    open.add(one);
  }
  await Promise.all(open);
  return sent;
};
