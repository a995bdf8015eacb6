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
import type { DeadLetters } from './delivery/dead-letters.ts';
import { createDelivery } from './delivery/delivery.ts';
import type { Totals } from './log/counts.ts';
import { openFileLog } from './log/files/file-log.ts';
import type { SharedLog } from './log/jetstream/jetstream-log.ts';
import type { TelemetryLog } from './log/log.ts';
import { createReceiver, type Receiver } from './receiver/receiver.ts';
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
  /**
   * Instead of the folder: the log that all replicas share. It is closed with telemetry.
   */
  shared?: SharedLog;
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
  /** Of the telemetry log: of this replica's folder, or the same on all replicas that share one. */
  replicaId: string;
  /**
   * The state and the account of an integration over all replicas (product, section 8); undefined for a number
   * that this replica never heard of.
   */
  health(number: number): Promise<Health | undefined>;
  /** The same of this replica alone, for its metrics; undefined where another one delivers the integration. */
  ownHealth(number: number): Promise<Health | undefined>;
  /**
   * The accounts of all integrations that ever were, the deleted ones among them: for metrics. `own`: this replica
   * is the one that tells of it; of a shared log the one that delivers it.
   */
  accounts(): { number: number; removed: boolean; own: boolean; totals: Totals }[];
  /** A test of the integration succeeded: a paused delivery goes on at once. */
  resume(number: number): void;
  /** Everybody looks again now: after a change of the settings, or when a test has moved the clock. */
  wake(): void;
  /** Ended spans of the platform are durable. */
  flush(): Promise<void>;
  /** Starts delivery and retention. `destinations` must be loaded by then. */
  start(): void;
  /** Ends delivery within seconds, flushes spans, closes the log. */
  stop(): Promise<void>;
}

/** The log with what belongs to it, and the name under which its counts stand among those of other logs. */
const openLog = async (
  { directory, shared, segmentBytes }: TelemetryOptions,
  clock: Clock,
): Promise<{ telemetryLog: TelemetryLog; replicaId: string }> => {
  if (shared) return { telemetryLog: shared, replicaId: shared.id };
  const telemetryLog = await openFileLog({
    directory,
    now: () => clock.now(),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  });
  return { telemetryLog, replicaId: await replicaIdIn(directory) };
};

/** Opens the telemetry log and puts the path together. Rejects where the folder cannot be used. */
export const createTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const { destinations, settings, egress, log, clock = systemClock, random = Math.random } = options;
  const { telemetryLog, replicaId } = await openLog(options, clock);
  const routes = () => destinations.table();
  const receiver = createReceiver({ log: telemetryLog, routes });
  const spans = createTracing({ log: telemetryLog, routes, logger: log });
  const delivery = createDelivery({
    telemetryLog,
    destinations,
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
  const accounts = options.sharedAccounts;
  const publisher =
    accounts &&
    new AccountPublisher({
      replicaId,
      shared: accounts,
      clock,
      log,
      accounts: async () => {
        const own: Account[] = [];
        for (const { number } of telemetryLog.integrations()) {
          const account = telemetryLog.owns(number) && (await delivery.account(number));
          if (account) own.push(account);
        }
        return own;
      },
    });
  /** What is known here; of a log that is shared, the state of delivery is what the owner last said. */
  const accountOf = async (number: number): Promise<Account | undefined> => {
    await options.shared?.refresh();
    const own = await delivery.account(number);
    if (own === undefined || telemetryLog.owns(number)) return own;
    const said = await accounts?.lastSaid(replicaId, number);
    const enabled = destinations.get(number)?.enabled === true;
    return {
      ...own,
      state: !enabled ? 'disabled' : said && said.state !== 'disabled' ? said.state : 'delivering',
      lastSuccessAt: said?.lastSuccessAt ?? null,
      lastError: said?.lastError ?? null,
      nextAttemptAt: enabled ? (said?.nextAttemptAt ?? null) : null,
    };
  };
  return {
    replicaId,
    receiver,
    tracing: spans.tracing,
    deadLetters: delivery.deadLetters,
    health: async (number) => {
      const own = await accountOf(number);
      return own && healthOf(own, (await accounts?.ofOthers(replicaId, number)) ?? [], clock.now());
    },
    ownHealth: async (number) => {
      const own = telemetryLog.owns(number) ? await delivery.account(number) : undefined;
      return own && healthOf(own, [], clock.now());
    },
    accounts: () =>
      telemetryLog.integrations().map((one) => ({
        ...one,
        own: telemetryLog.owns(one.number),
        totals: telemetryLog.totals(one.number),
      })),
    resume: delivery.resume,
    wake: () => {
      delivery.wake();
      publisher?.wake();
    },
    flush: spans.flush,
    start: () => {
      // Where the database does not answer now, the log's own loop sees to it.
      options.shared
        ?.deliver()
        .catch((error) => log.warn({ error: messageOf(error) }, 'nothing is owned yet'));
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
