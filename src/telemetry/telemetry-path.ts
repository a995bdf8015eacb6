import type { DeliveryCounters } from '@agent-platform/otlp/log';
import { type TelemetryLog, TelemetryLogError } from '@agent-platform/otlp/log';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { DeadLetters as OwnDeadLetters } from './delivery/dead-letters.ts';
import { createDelivery, type Delivery, type Retention } from './delivery/delivery.ts';
import type { DeliveryReport } from './delivery/report.ts';
import { createReceiver, type Receiver } from './receiver/receiver.ts';
import { type Health, healthOf } from './reports/health.ts';
import { ReportPublisher } from './reports/report-publisher.ts';
import type { ReportStore } from './reports/report-store.ts';
import { type Destinations, type SpanSink, sinkNumber, withSink } from './routing.ts';
import { createTracing, type Tracing } from './spans.ts';

/** Dead letters that the log of this replica keeps. */
export interface DeadLetters extends OwnDeadLetters {
  count(number: number): Promise<number>;
  /** Counts the dead letters in the logs of other replicas. */
  countElsewhere(number: number): Promise<number>;
}

export interface TelemetryPathOptions {
  /** The log is closed with the path. */
  openLog: () => Promise<TelemetryLog>;
  destinations: Destinations;
  /** Called whenever it is needed, so that a changed setting takes effect at once. */
  retention: () => Retention;
  /** The destination inside the platform. Left out: there is none. */
  sink?: SpanSink;
  /** Store where replicas publish their reports. Left out: there are no others. */
  reports?: ReportStore;
  /** Called with the agents that accepted requests name. Left out: no one is notified. */
  onAccepted?: (agents: Iterable<string | null>) => void;
  /** Attributes of the resource of the platform's own spans, in the place of the default ones. */
  resource?: Readonly<Record<string, string>>;
  egress: Pick<Egress, 'request'>;
  log: Logger;
  clock?: Clock;
  /** Returns a number from 0 to 1, for the jitter of retries. */
  random?: () => number;
  /** Limit of a request to a backend, in ms. Default 30 s. */
  requestTimeoutMs?: number;
}

interface Opened {
  telemetryLog: TelemetryLog;
  delivery: Delivery;
  publisher: ReportPublisher | undefined;
}

/** The telemetry path: in at the receiver and the tracer, through the log, out by delivery. */
export class TelemetryPath {
  readonly receiver: Receiver;
  readonly tracing: Tracing;
  readonly #options: TelemetryPathOptions;
  readonly #spans: ReturnType<typeof createTracing>;
  readonly #clock: Clock;
  #opened: Opened | null = null;

  /** Opens nothing: until `open` the log refuses what comes in. */
  constructor(options: TelemetryPathOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { sink } = options;
    const routes = () => {
      const table = options.destinations.table();
      return sink ? withSink(table, sink.routes()) : table;
    };
    const log: Pick<TelemetryLog, 'append'> = {
      append: (slices) =>
        this.#opened?.telemetryLog.append(slices) ??
        Promise.reject(new TelemetryLogError('closed', 'the telemetry log is not open')),
    };
    const { onAccepted, resource } = options;
    this.receiver = createReceiver({ log, routes, ...(onAccepted && { onAccepted }) });
    this.#spans = createTracing({ log, routes, logger: options.log, ...(resource && { resource }) });
    this.tracing = this.#spans.tracing;
  }

  /** Opens the log. Rejects if it cannot be used. */
  async open(): Promise<void> {
    const { openLog, reports: store, destinations, egress, log, random = Math.random } = this.#options;
    const { retention, sink, requestTimeoutMs = 30_000 } = this.#options;
    const telemetryLog = await openLog();
    const clock = this.#clock;
    const parts = { telemetryLog, destinations, egress, clock, random, log, retention, requestTimeoutMs };
    const delivery = createDelivery({ ...parts, sink });
    const reports = async (): Promise<DeliveryReport[]> => {
      const owned: DeliveryReport[] = [];
      for (const { number } of telemetryLog.integrations()) {
        const report = telemetryLog.owns(number) && (await delivery.report(number));
        if (report) owned.push(report);
      }
      return owned;
    };
    const publisher =
      store && new ReportPublisher({ replicaId: telemetryLog.id, store, clock, log, reports });
    this.#opened = { telemetryLog, delivery, publisher };
  }

  /** Starts delivery and retention. `destinations` must be loaded by then. */
  startDelivery(): void {
    const { telemetryLog, delivery, publisher } = this.#open;
    // If the database does not respond now, the log's own loop tries again.
    telemetryLog
      .deliver()
      .catch((error) => this.#options.log.warn({ error: messageOf(error) }, 'nothing is owned yet'));
    delivery.start();
    publisher?.start();
  }

  /** Ends delivery within seconds, flushes spans, closes the log. */
  async close(): Promise<void> {
    const opened = this.#opened;
    await opened?.delivery.stop();
    await this.#spans
      .stop()
      .catch((error) => this.#options.log.error({ error: messageOf(error) }, 'the last spans are lost'));
    await opened?.publisher?.stop();
    await opened?.telemetryLog.close();
  }

  /** The id of the telemetry log: of this replica's folder, or the same on all replicas that share one. */
  get replicaId(): string {
    return this.#open.telemetryLog.id;
  }

  /** Number of bytes that the telemetry log holds. */
  get bytes(): number {
    return this.#open.telemetryLog.bytes;
  }

  /** Of a log that replicas share: its copies, null if no one says. Undefined: each replica has its own. */
  async copies(): Promise<{ configured: number; current: number } | null | undefined> {
    return this.#opened?.telemetryLog.copies?.().catch(() => null);
  }

  get deadLetters(): DeadLetters {
    return {
      ...this.#open.delivery.deadLetters,
      count: async (number) => {
        const { telemetryLog } = this.#open;
        await telemetryLog.refresh();
        return telemetryLog.counters(number).dead_lettered;
      },
      countElsewhere: async (number) => {
        const others = await this.#options.reports?.ofOthers(this.replicaId, number);
        return (others ?? []).reduce((sum, { dead_lettered }) => sum + dead_lettered, 0);
      },
    };
  }

  /**
   * State and counters of an integration over all replicas; undefined for a number that this
   * replica does not know.
   */
  async health(number: number): Promise<Health | undefined> {
    const report = await this.#report(number);
    if (report === undefined) return undefined;
    const others = (await this.#options.reports?.ofOthers(this.replicaId, number)) ?? [];
    return healthOf(report, others, this.#clock.now());
  }

  /** Returns the health on this replica alone, for its metrics; undefined if another one delivers the integration. */
  async ownHealth(number: number): Promise<Health | undefined> {
    const { telemetryLog, delivery } = this.#open;
    const report = telemetryLog.owns(number) ? await delivery.report(number) : undefined;
    return report && healthOf(report, [], this.#clock.now());
  }

  /** State and counters of the sink: of all replicas, or of the log of this one if it is the one that stores it. */
  sinkHealth(): Promise<Health | undefined> {
    return this.health(sinkNumber);
  }

  ownSinkHealth(): Promise<Health | undefined> {
    return this.ownHealth(sinkNumber);
  }

  /**
   * Every integration that the log ever knew, with its counters. `own`: this replica reports the integration; if the
   * log is shared, that is the one that delivers it.
   */
  integrations(): { number: number; removed: boolean; own: boolean; counters: DeliveryCounters }[] {
    const { telemetryLog } = this.#open;
    const known = telemetryLog.integrations().filter(({ number }) => number !== sinkNumber);
    return known.map((one) => ({
      ...one,
      own: telemetryLog.owns(one.number),
      counters: telemetryLog.counters(one.number),
    }));
  }

  /** A test of the integration succeeded: a paused delivery resumes at once. */
  resume(number: number): void {
    this.#open.delivery.resume(number);
  }

  /** Everything looks again now: after a change of the settings, or when a test has moved the clock. */
  wake(): void {
    this.#opened?.delivery.wake();
    this.#opened?.publisher?.wake();
  }

  /** Resolves when the spans of the platform that have ended are durable. */
  flush(): Promise<void> {
    return this.#spans.flush();
  }

  get #open(): Opened {
    if (this.#opened === null) throw new Error('the telemetry log is not open');
    return this.#opened;
  }

  /**
   * Returns the report of this replica. For a shared log, the state of delivery is the one that the owner last
   * reported. After a start the last success is the one that was reported before.
   */
  async #report(number: number): Promise<DeliveryReport | undefined> {
    const { telemetryLog, delivery } = this.#open;
    await telemetryLog.refresh();
    const own = await delivery.report(number);
    if (own === undefined) return undefined;
    const isOwner = telemetryLog.owns(number);
    if (isOwner && own.last_success_at !== null) return own;
    const owners = await this.#options.reports?.last(this.replicaId, number);
    const last_success_at = owners?.last_success_at ?? null;
    if (isOwner) return { ...own, last_success_at };
    const { destinations, sink } = this.#options;
    const enabled =
      number === sinkNumber ? sink?.routes() !== 'off' : destinations.get(number)?.enabled === true;
    return {
      ...own,
      state: !enabled ? 'disabled' : owners && owners.state !== 'disabled' ? owners.state : 'delivering',
      last_success_at,
      last_error: owners?.last_error ?? null,
      next_attempt_at: enabled ? (owners?.next_attempt_at ?? null) : null,
    };
  }
}
