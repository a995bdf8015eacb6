import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/index.ts';
import type { Clock } from '../lib/clock.ts';
import { type Egress, EgressError } from '../lib/egress.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import type { SealedSettings } from '../lib/sealed-settings.ts';
import type { CallbackSettings } from './callbacks.ts';
import { retryDelayMs } from './retries.ts';
import { signedHeaders } from './signature.ts';
import {
  type AttemptResult,
  claimDeliveries,
  type Delivery,
  endAttempt,
  findCallback,
  nextDeliveryIn,
  releaseDelivery,
} from './store.ts';

/** A 2xx that comes later is a failure. */
const timeoutMs = 15_000;
/** Longer than an attempt takes: only what a lost replica had in flight is sent by another one. */
const leaseSeconds = 20;
/** Requests in flight at once on a replica, and to one origin. */
const atOnce = 64;
const atOncePerOrigin = 8;
/** The longest time between two looks at what is due, in case a notification was lost. */
const longestSleepMs = 60_000;
/** Delay before deliveries that are due and locked by another replica are checked again. */
const retryMs = 100;
/** Time that requests may continue after a stop before they are released. */
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
const bodyOf = (delivery: Delivery, publicUrl: string): string =>
  JSON.stringify({
    type: delivery.event,
    timestamp: delivery.created_at.toISOString(),
    data: {
      work_item_id: delivery.work_item_id,
      agent_id: delivery.agent_id,
      agent_version: delivery.agent_version,
      schedule_id: delivery.schedule_id,
      work_item_name: delivery.work_item_name,
      status: delivery.status,
      previous_status: delivery.previous_status,
      url: `${publicUrl}/api/v2/work-items/${delivery.work_item_id}`,
    },
  });

/** Returns the result of an attempt, from the response or from the reason why there is none. */
const resultOf = (
  delivery: Delivery,
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

/** The loop of one replica that delivers callbacks. */
export class CallbackDelivery {
  readonly #parts: DeliveryParts;
  readonly #inFlight = new Set<{ origin: string; done: Promise<void> }>();
  readonly #abort = new AbortController();
  readonly #loop: Loop;
  readonly #wake = () => this.#loop.wake();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#loop = new Loop({ name: 'callbacks', log: parts.log, tick: () => this.#tick() });
  }

  /** Listens for new deliveries, before any is recorded. */
  listen(): void {
    this.#parts.db.listen('callbacks', this.#wake);
  }

  start(): void {
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Claims no more, lets requests end for a moment, and releases the others: they are due at once. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const all = Promise.all([...this.#inFlight].map(({ done }) => done));
    await Promise.race([all, sleep(graceMs, undefined, { ref: false })]);
    this.#abort.abort();
    await Promise.race([all, sleep(graceMs, undefined, { ref: false })]);
  }

  async #tick(): Promise<number | null> {
    const { db } = this.#parts;
    const limit = atOnce - this.#inFlight.size;
    // The end of a request wakes the loop.
    if (limit === 0) return longestSleepMs;
    const inFlight = new Map<string, number>();
    for (const { origin } of this.#inFlight) inFlight.set(origin, (inFlight.get(origin) ?? 0) + 1);
    const claimed = await db.tx((tx) =>
      claimDeliveries(tx, { limit, perOrigin: atOncePerOrigin, inFlight, leaseSeconds }),
    );
    for (const delivery of claimed) {
      this.#send(delivery);
      inFlight.set(delivery.origin, (inFlight.get(delivery.origin) ?? 0) + 1);
    }
    const full = [...inFlight].filter(([, n]) => n >= atOncePerOrigin).map(([origin]) => origin);
    const next = await db.run((executor) => nextDeliveryIn(executor, full));
    return Math.min(longestSleepMs, Math.max(retryMs, next ?? longestSleepMs));
  }

  #send(delivery: Delivery): void {
    const { db, log, onAttempt } = this.#parts;
    const attempt = async (): Promise<void> => {
      const result = await this.#attempt(delivery);
      if (!result) return db.run((executor) => releaseDelivery(executor, delivery));
      await db.run((executor) => endAttempt(executor, delivery, result));
      onAttempt(result.state === 'pending' ? 'retried' : result.state);
      if (result.state === 'failed' || result.state === 'gone') {
        const { id, work_item_id } = delivery;
        log.warn({ delivery_id: id, work_item_id, error: result.error }, 'a callback was given up');
      }
    };
    const flight = {
      origin: delivery.origin,
      done: attempt()
        .catch((error) => {
          const { id, work_item_id } = delivery;
          log.error(
            { delivery_id: id, work_item_id, error: messageOf(error) },
            'the end of a callback was not stored; it is sent again when its lease ends',
          );
        })
        .finally(() => {
          this.#inFlight.delete(flight);
          this.#loop.wake();
        }),
    };
    this.#inFlight.add(flight);
  }

  /** Sends a delivery once. Resolves to null if the stop of this replica ended the attempt. */
  async #attempt(delivery: Delivery): Promise<AttemptResult | null> {
    const { db, clock, sealed, publicUrl } = this.#parts;
    const row = await db.run((executor) => findCallback(executor, delivery.callback_id));
    // The Work Item was removed in the meantime, and this with it.
    if (!row) return null;
    const { secret, headers } = sealed.open(row);
    const egress = row.given_by_member ? this.#parts.membersEgress : this.#parts.egress;
    const body = bodyOf(delivery, publicUrl());
    const seconds = Math.floor(clock.now() / 1_000);
    try {
      const response = await egress.request(delivery.url, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'user-agent': 'agent-platform',
          ...signedHeaders(secret, { id: delivery.id, seconds, body }),
        },
        body,
        timeoutMs,
        maxBodyBytes,
        signal: this.#abort.signal,
      });
      const wait = retryAfterMs(response.headers['retry-after'], clock.now());
      return resultOf(delivery, { status: response.status, retryAfterMs: wait });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (this.#abort.signal.aborted) return null;
      // No one changes the rule for this callback, so it is not tried again.
      if (row.given_by_member && error.kind === 'denied') {
        return { state: 'failed', status: null, error: error.message, retryInMs: null };
      }
      return resultOf(delivery, { error: error.message });
    }
  }
}
