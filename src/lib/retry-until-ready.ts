import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './errors.ts';
import type { Logger } from './log.ts';

/** The time for which a start waits for what it depends on, in milliseconds. */
export const retryForMs = 60_000;

/**
 * Runs `attempt` every second until it resolves, for 60 s: what the platform depends on may start a moment later than
 * the platform, or restart. Rejects at once if the error `isPermanent`, and after 60 s with the last error.
 */
export const retryUntilReady = async <T>(
  attempt: () => Promise<T>,
  { log, waitsFor, isPermanent }: { log: Logger; waitsFor: string; isPermanent: (error: unknown) => boolean },
): Promise<T> => {
  const until = Date.now() + retryForMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (isPermanent(error) || Date.now() >= until) throw error;
      log.warn({ error: messageOf(error) }, `${waitsFor} does not respond yet`);
      await sleep(1_000);
    }
  }
};
