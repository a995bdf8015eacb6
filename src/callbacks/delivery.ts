import type { Database } from '../database/index.ts';
import { AttemptLoop } from '../lib/attempt-loop.ts';
import type { Clock } from '../lib/clock.ts';
import { type Egress, EgressError } from '../lib/egress.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import type { SealedSettings } from '../lib/sealed-settings.ts';
import type { CallbackSettings } from './callbacks.ts';
import { retryDelayMs } from './retries.ts';
import { signedHeaders } from './signature.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  endAttempt,
  findCallback,
  nextDeliveryIn,
  releaseDelivery,
} from './store.ts';

/** A 2xx that comes later is a failure. */
const timeoutMs = 15_000;
/** Time that requests may continue after a stop before they are released, in milliseconds. */
const graceMs = 5_000;
/** Limit of the body of a response, of which nothing is used. */
const maxBodyBytes = 4_096;

export interface DeliveryParts {
  db: Database;
  egress: Egress;
  /** Egress for callbacks that members gave. */
  membersEgress: Egress;
  log: Logger;
  clock: Clock;
  sealed: SealedSettings<CallbackSettings>;
  /** Returns the address of the platform without a slash at the end. */
  publicUrl: () => string;
  /** An attempt ended. */
  onAttempt: (outcome: 'delivered' | 'retried' | 'failed' | 'gone') => void;
}

/** The body of every attempt: what happened, and no content of the Work Item. */
const bodyOf = (delivery: ClaimedDelivery, publicUrl: string): string =>
  JSON.stringify({
    type: delivery.event,
    timestamp: delivery.created_at.toISOString(),
    data: {
      work_item_id: delivery.work_item_id,
      agent_id: delivery.agent_id,
      agent_version: delivery.agent_version,
      schedule_id: delivery.schedule_id,
      trigger_id: delivery.trigger_id,
      occurrence_id: delivery.occurrence_id,
      work_item_name: delivery.work_item_name,
      status: delivery.status,
      previous_status: delivery.previous_status,
      cost_nano_usd: delivery.cost_nano_usd,
      unknown_calls: delivery.unknown_calls,
      url: `${publicUrl}/api/v2/work-items/${delivery.work_item_id}`,
    },
  });

/** Returns the result of an attempt, from the response or from the reason why there is none. */
const resultOf = (
  delivery: ClaimedDelivery,
  got: { status: number; retryAfterMs: number | null } | { error: string },
): AttemptResult => {
  if ('status' in got && got.status >= 200 && got.status < 300) {
    return { state: 'delivered', status: got.status, error: null, retryInMs: null };
  }
  const status = 'status' in got ? got.status : null;
  const redirected = status !== null && status >= 300 && status < 400;
  const error =
    'error' in got
      ? got.error
      : `The receiver responded with ${status}${redirected ? '; redirects are not followed' : ''}.`;
  if (status === 410) return { state: 'gone', status, error, retryInMs: null };
  const retryInMs = retryDelayMs(delivery.failures + 1, 'status' in got ? got.retryAfterMs : null);
  return { state: retryInMs === null ? 'failed' : 'pending', status, error, retryInMs };
};

/** The loop of one replica that delivers callbacks. `listen` comes before any delivery is recorded. */
export const createCallbackDelivery = (
  parts: DeliveryParts,
): { loop: AttemptLoop<ClaimedDelivery>; listen(): void } => {
  const { db, log, clock, sealed, publicUrl, onAttempt } = parts;

  /** Sends a delivery once. Resolves to null if it was removed, or if the stop of this replica ended the attempt. */
  const send = async (delivery: ClaimedDelivery, signal: AbortSignal): Promise<AttemptResult | null> => {
    const row = await db.run((executor) => findCallback(executor, delivery.callback_id));
    // The Work Item was removed in the meantime, and this with it.
    if (!row) return null;
    const { secret, headers } = sealed.open(row);
    const egress = row.given_by_member ? parts.membersEgress : parts.egress;
    const body = bodyOf(delivery, publicUrl());
    const seconds = Math.floor(clock.now() / 1_000);
    try {
      const response = await egress.request(delivery.url, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'user-agent': 'agent-platform',
          // A trigger that this starts goes one step further, so that chains of Work Items end.
          'agent-platform-depth': String(delivery.depth),
          ...signedHeaders(secret, { id: delivery.id, seconds, body }),
        },
        body,
        timeoutMs,
        maxBodyBytes,
        signal,
      });
      const wait = retryAfterMs(response.headers['retry-after'], clock.now());
      return resultOf(delivery, { status: response.status, retryAfterMs: wait });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (signal.aborted) return null;
      // No one changes the rule for this callback, so it is not tried again.
      if (row.given_by_member && error.kind === 'denied') {
        return { state: 'failed', status: null, error: error.message, retryInMs: null };
      }
      return resultOf(delivery, { error: error.message });
    }
  };

  const attempt = async (delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> => {
    const { id, work_item_id } = delivery;
    const result = await send(delivery, signal);
    if (!result) return db.run((executor) => releaseDelivery(executor, delivery));
    await db.run((executor) => endAttempt(executor, delivery, result));
    onAttempt(result.state === 'pending' ? 'retried' : result.state);
    if (result.state === 'failed' || result.state === 'gone') {
      log.warn({ delivery_id: id, work_item_id, error: result.error }, 'a callback was given up');
    }
  };

  const loop = new AttemptLoop<ClaimedDelivery>({
    name: 'callbacks',
    log,
    graceMs,
    claim: (limits) => db.tx((tx) => claimDeliveries(tx, limits)),
    nextIn: (full) => db.run((executor) => nextDeliveryIn(executor, full)),
    destinationOf: ({ origin }) => origin,
    attempt: (delivery, signal) =>
      attempt(delivery, signal).catch((error) => {
        const { id, work_item_id } = delivery;
        log.error(
          { delivery_id: id, work_item_id, error: messageOf(error) },
          'the end of a callback was not stored; it is sent again when its lease ends',
        );
      }),
  });
  return { loop, listen: () => db.listen('callbacks', loop.wake) };
};
