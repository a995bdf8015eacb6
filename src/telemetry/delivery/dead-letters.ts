import type { DeadLetter, TelemetryLog } from '@agent-platform/otlp/log';
import type { Destinations } from '../routing.ts';
import { outcomeOf, outcomeOfFailure } from './outcome.ts';
import { type PostParts, postSpans } from './post.ts';

/** Dead letters of one integration, kept for the retention. */
export interface DeadLetters {
  /** Resolves to dead letters, oldest first, after the given id. */
  list(number: number, options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /**
   * Sends them again (all, or the given ones), for about `withinMs`: what is accepted counts as delivered, the rest
   * stays. `failed`: refused again, or not found; `untried`: not sent, because time ran out or because the backend
   * accepts nothing now.
   */
  retry(
    number: number,
    ids?: readonly string[],
    withinMs?: number,
  ): Promise<{ delivered: number; failed: number; untried: number }>;
  /** Removes dead letters (all, or the given ones), counted as discarded. Resolves to their number. */
  purge(number: number, ids?: readonly string[]): Promise<number>;
}

interface DeadLetterParts extends Omit<PostParts, 'compressor'> {
  telemetryLog: TelemetryLog;
  destinations: Destinations;
}

export const createDeadLetters = (parts: DeadLetterParts): DeadLetters => {
  const { telemetryLog, destinations, egress, clock, requestTimeoutMs } = parts;
  return {
    list: (number, { limit = 50, after } = {}) => telemetryLog.listDeadLetters(number, limit, after),
    purge: (number, ids) => telemetryLog.endDeadLetters(number, ids, 'discarded'),
    retry: async (number, ids, withinMs = Number.POSITIVE_INFINITY) => {
      const wanted = [...new Set(ids ?? (await telemetryLog.deadLetterIds(number)))];
      const until = Date.now() + withinMs;
      const result = { delivered: 0, failed: 0, untried: 0 };
      for (const [index, id] of wanted.entries()) {
        const destination = destinations.get(number);
        if (!destination || destination.problem !== undefined || Date.now() >= until) {
          result.untried = wanted.length - index;
          break;
        }
        const found = await telemetryLog.getDeadLetter(number, id);
        if (!found) {
          result.failed++;
          continue;
        }
        const timeoutMs = Math.max(1, Math.min(requestTimeoutMs, until - Date.now()));
        const outcome = await postSpans(egress, destination, found.span, timeoutMs).then(
          (response) => outcomeOf(destination, response, 1, clock.now()),
          outcomeOfFailure,
        );
        if (outcome.kind === 'accepted' && outcome.rejected === 0) {
          result.delivered += await telemetryLog.endDeadLetters(number, [id], 'delivered');
        } else if (outcome.kind === 'retry' || outcome.kind === 'pause') {
          // The backend accepts nothing now: the others would only wait in vain.
          result.untried = wanted.length - index;
          break;
        } else result.failed++;
      }
      return result;
    },
  };
};
