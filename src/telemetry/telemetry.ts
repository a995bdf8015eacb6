import { join } from 'node:path';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import {
  type Account,
  AccountPublisher,
  type Health,
  healthOf,
  replicaIdIn,
  type SharedAccounts,
} from './accounts.ts';
import { DeadLetterStore, type DeadLetters } from './dead-letters.ts';
import { createDelivery } from './delivery.ts';
import { openFileLog } from './log/file.ts';
import type { Totals } from './log/log.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import type { Destinations } from './routing.ts';
import { createTracing, type Tracing } from './spans.ts';

/** Advanced settings, asked for whenever they are needed, so that a change takes effect at once. */
interface TelemetrySettings {
  retentionHours(): number;
  retentionMegabytes(): number;
}

interface TelemetryOptions {
  /** The folder of the telemetry log; made where it is missing. One process at a time. */
  directory: string;
  destinations: Destinations;
  settings: TelemetrySettings;
  /** How this replica learns the accounts of the others. Left out: there are none. */
  sharedAccounts?: SharedAccounts;
  egress: Pick<Egress, 'request'>;
  log: Logger;
  clock?: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
  /** Of a request to a backend. Default 30 s. */
  requestTimeoutMs?: number;
  /** Of the log's segments. Default 64 MiB. */
  segmentBytes?: number;
}

/** The telemetry path: in at the receiver and the tracer, through the log, out by delivery. */
export interface Telemetry {
  receiver: Receiver;
  tracing: Tracing;
  deadLetters: DeadLetters;
  /** Of this telemetry folder; what it holds is this replica's alone. */
  replicaId: string;
  /**
   * The state and the account of an integration over all replicas (product, section 8); undefined for a number
   * that this replica never heard of.
   */
  health(number: number): Promise<Health | undefined>;
  /** The same of this replica alone: for its metrics. */
  ownHealth(number: number): Promise<Health | undefined>;
  /** The accounts of all integrations that ever were, the deleted ones among them: for metrics. */
  accounts(): { number: number; removed: boolean; totals: Totals }[];
  /** A test of the integration succeeded: a paused delivery goes on at once. */
  resume(number: number): void;
  /** Everybody looks again now: for tests that have moved the clock. */
  wake(): void;
  /** Ended spans of the platform are durable. */
  flush(): Promise<void>;
  /** Starts delivery and retention. `destinations` must be loaded by then. */
  start(): void;
  /** Ends delivery within seconds, flushes spans, closes the log. */
  stop(): Promise<void>;
}

/** Opens the telemetry log and puts the path together. Rejects where the folder cannot be used. */
export const createTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const {
    directory,
    destinations,
    settings,
    egress,
    log,
    clock = systemClock,
    random = Math.random,
  } = options;
  const telemetryLog = await openFileLog({
    directory,
    now: () => clock.now(),
    ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
  });
  const letters = new DeadLetterStore(join(directory, 'dead-letters'), telemetryLog);
  await letters.reconcile();
  const routes = () => destinations.table();
  const receiver = createReceiver({ log: telemetryLog, routes });
  const spans = createTracing({ log: telemetryLog, routes, logger: log });
  const delivery = createDelivery({
    telemetryLog,
    destinations,
    deadLetters: letters,
    egress,
    clock,
    random,
    log,
    ...(options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs }),
    retention: () => ({
      milliseconds: settings.retentionHours() * 3_600_000,
      bytes: settings.retentionMegabytes() * 1024 * 1024,
    }),
  });
  const shared = options.sharedAccounts;
  const replicaId = await replicaIdIn(directory);
  const publisher =
    shared &&
    new AccountPublisher({
      replicaId,
      shared,
      clock,
      log,
      accounts: async () => {
        const accounts: Account[] = [];
        for (const { number } of telemetryLog.integrations()) {
          const account = await delivery.account(number);
          if (account) accounts.push(account);
        }
        return accounts;
      },
    });
  const healthWith = async (
    number: number,
    from: SharedAccounts | undefined,
  ): Promise<Health | undefined> => {
    const own = await delivery.account(number);
    return own && healthOf(own, (await from?.ofOthers(replicaId, number)) ?? [], clock.now());
  };
  return {
    replicaId,
    receiver,
    tracing: spans.tracing,
    deadLetters: delivery.deadLetters,
    health: (number) => healthWith(number, shared),
    ownHealth: (number) => healthWith(number, undefined),
    accounts: () =>
      telemetryLog.integrations().map((one) => ({ ...one, totals: telemetryLog.totals(one.number) })),
    resume: delivery.resume,
    wake: () => {
      delivery.wake();
      publisher?.wake();
    },
    flush: spans.flush,
    start: () => {
      delivery.start();
      publisher?.start();
    },
    stop: async () => {
      await delivery.stop();
      await spans.stop().catch((error) => log.error({ error: messageOf(error) }, 'the last spans are lost'));
      await publisher?.stop();
      await telemetryLog.close();
    },
  };
};
