import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, isRowFault, sqlStateOf } from '../../database/index.ts';
import { Batch } from '../../lib/batch.ts';
import { messageOf, unavailable } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { type Judgement, judge } from '../expressions/index.ts';
import type { Delivered, Delivery, JudgingTrigger } from './delivery.ts';
import { findJudging } from './store.ts';
import { type Judged, type Report, type StoreParts, storeDeliveries } from './transaction.ts';

/** Deliveries stored in one transaction. */
const most = 500;
/** Transactions in flight at once. The embedded database has one connection. */
const lanes = { postgres: 2, embedded: 1 };
/** The bytes of bodies and payloads that one transaction carries; a larger delivery is alone in its own. */
const mostBytes = 8 * 1024 * 1024;
/**
 * The pause after a transaction: this many times as long as it waited for BEGIN, at most `maxMs`. A busy machine is left to
 * the requests, which wait as long as BEGIN does. It is shorter than that of firing (4, 2, 400), because the senders of
 * these deliveries are requests too: with that, one in a hundred waited for 54 ms at 500 a second, and not for 23.
 */
const throttle = { factor: 1, fromMs: 5, maxMs: 100 };

export interface DeliveriesOptions extends StoreParts {
  db: Database;
  log: Logger;
  /** Called after each commit with what was stored. */
  onStored?: (reports: readonly Report[]) => void;
}

type Result = { delivered: Delivered } | { error: unknown };

const bytesOf = ({ delivery, judgement }: Judged): number =>
  (delivery.raw?.length ?? 0) +
  (judgement?.outcome === 'ready' ? JSON.stringify(judgement.payload).length : 0);

/** Cuts a list into parts that one transaction carries. */
const partsOf = (judged: readonly Judged[]): Judged[][] => {
  const parts: Judged[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of judged) {
    const own = bytesOf(one);
    if (bytes + own > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(one);
    bytes += own;
  }
  return parts;
};

/** A delivery that could not be stored, as an entry that says so and nothing of it that may have been the cause. */
const withObstacle = ({ delivery, revision }: Judged, fault: unknown): Judged => {
  const code = sqlStateOf(fault);
  const reason = `The event could not be stored${code ? ` (error ${code})` : ''}.`;
  return {
    delivery: {
      ...delivery,
      event: { ...delivery.event, id: delivery.event.id.slice(0, 100).toWellFormed(), type: null },
      known: { outcome: 'invalid', reason },
      raw: null,
    },
    judgement: null,
    revision,
  };
};

/**
 * Stores deliveries of events, from every source: those that come together share a transaction, which judges them by the
 * expressions of their triggers. A call resolves after its commit.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  /**
   * A trigger has its lane, which has one transaction at a time: a second one of the same trigger would only wait for the
   * lock of the first, with a connection in its hand and fewer deliveries than had come by then.
   */
  readonly #lanes: Batch<Delivery, Result>[];
  #rest: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#lanes = Array.from(
      { length: lanes[options.db.kind] },
      () => new Batch({ most, atOnce: 1, run: (all) => this.#run(all) }),
    );
  }

  /** Stores one delivery. Throws 503 if the database does not respond, or this replica stops: then nothing is known of it. */
  async deliver(delivery: Delivery): Promise<Delivered> {
    if (this.#stopped) throw unavailable('The platform is stopping. Send the event again in a moment.', 1);
    // The last digit of an id is random.
    const lane = this.#lanes[Number.parseInt(delivery.triggerId.at(-1)!, 16) % this.#lanes.length]!;
    const result = await lane.add(delivery);
    if ('error' in result) throw result.error;
    return result.delivered;
  }

  /** Stores deliveries, possibly of several triggers. Resolves to what became of each, in their order; throws as `deliver` does. */
  deliverAll(deliveries: readonly Delivery[]): Promise<Delivered[]> {
    return Promise.all(deliveries.map((delivery) => this.deliver(delivery)));
  }

  /** From now on deliveries are refused. */
  stop(): void {
    this.#stopped = true;
  }

  async #run(deliveries: readonly Delivery[]): Promise<Result[]> {
    await this.#rest;
    const results: Result[] = [];
    try {
      for (const part of partsOf(await this.#judge(deliveries))) results.push(...(await this.#store(part)));
    } catch (error) {
      // What was committed is known; the rest fails for the same reason.
      while (results.length < deliveries.length) results.push({ error });
    }
    return results;
  }

  async #judge(deliveries: readonly Delivery[]): Promise<Judged[]> {
    const { db, limits } = this.#options;
    const known = deliveries.flatMap(({ definition }) => definition ?? []);
    const triggers = new Map<string, JudgingTrigger>(known.map((definition) => [definition.id, definition]));
    const ids = [...new Set(deliveries.map(({ triggerId }) => triggerId))].filter((id) => !triggers.has(id));
    if (ids.length > 0) {
      for (const row of await db.run((executor) => findJudging(executor, ids))) triggers.set(row.id, row);
    }
    const { maxPayloadBytes } = limits();
    const judged: Judged[] = deliveries.map((delivery) => ({
      delivery,
      judgement: null,
      revision: triggers.get(delivery.triggerId)?.revision ?? 0,
    }));
    const open = judged.filter(({ delivery }) => delivery.known === null && triggers.has(delivery.triggerId));
    const judgements: Judgement[] = await judge(
      open.map(({ delivery }) => ({
        definition: triggers.get(delivery.triggerId)!,
        event: delivery.event,
        maxPayloadBytes,
      })),
    );
    open.forEach((one, k) => {
      one.judgement = judgements[k]!;
    });
    return judged;
  }

  /**
   * Stores deliveries in one transaction. If the data of one makes it fail, the list is bisected, each part in a
   * transaction of its own, so that k bad ones of n cost k log n transactions and delay no other; a bad one is stored as
   * `invalid`.
   */
  async #store(judged: readonly Judged[], isObstructed = false): Promise<Result[]> {
    const { db, log, onStored } = this.#options;
    const begun = performance.now();
    try {
      const { results, reports } = await db.tx((tx) => {
        const waitedMs = performance.now() - begun;
        if (waitedMs >= throttle.fromMs) {
          this.#rest = sleep(Math.min(throttle.factor * waitedMs, throttle.maxMs));
        }
        return storeDeliveries(tx, this.#options, judged);
      });
      onStored?.(reports);
      return results.map((delivered) => ({ delivered }));
    } catch (error) {
      if (!isRowFault(error)) return judged.map(() => ({ error }));
      if (judged.length > 1) {
        const half = judged.length >>> 1;
        return [...(await this.#store(judged.slice(0, half))), ...(await this.#store(judged.slice(half)))];
      }
      const { triggerId, occurrenceId } = judged[0]!.delivery;
      log.error(
        { trigger_id: triggerId, occurrence_id: occurrenceId, error: messageOf(error) },
        isObstructed ? 'an event could not be stored as invalid either' : 'an event could not be stored',
      );
      return isObstructed ? [{ error }] : this.#store([withObstacle(judged[0]!, error)], true);
    }
  }
}
