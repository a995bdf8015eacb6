import { Compressor } from '@agent-platform/otlp';
import { messageOf } from '../../lib/errors.ts';
import { Loop } from '../../lib/loop.ts';
import { type SpanSink, sinkNumber } from '../routing.ts';
import { Budget } from './budget.ts';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import { Exporter, type ExporterParts, stateFromSettings } from './exporter.ts';
import type { DeliveryReport } from './report.ts';
import { SinkExporter } from './sink-exporter.ts';

/** Limits of the log: the age of spans and dead letters, and its size. */
export interface Retention {
  milliseconds: number;
  bytes: number;
}

export interface DeliveryOptions extends Omit<ExporterParts, 'onRemoved' | 'compressor' | 'budget'> {
  /** Limit of all batches that are in flight. Default 64 MiB. */
  maxBytesInMemory?: number;
  retention: () => Retention;
  /** The destination inside the platform. Left out: there is none. */
  sink?: SpanSink | undefined;
}

/** The exporters of all integrations, and the retention of what they have not delivered. */
export interface Delivery {
  start(): void;
  stop(): Promise<void>;
  /** Wakes everything: after a change, or when a test has moved the clock. */
  wake(): void;
  resume(number: number): void;
  /** Undefined for a number that neither the settings nor the log know. */
  report(number: number): Promise<DeliveryReport | undefined>;
  deadLetters: DeadLetters;
}

const retentionEveryMs = 60_000;
/** The report of an integration whose exporter waits for its cursor to be opened. */
const nothingSent = { last_success_at: null, last_error: null, next_attempt_at: null };

export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { telemetryLog, destinations, clock, log } = options;
  const sink = options.sink && new SinkExporter(options.sink, options);
  const compressor = new Compressor();
  const budget = new Budget(options.maxBytesInMemory);
  const exporters = new Map<number, Exporter>();
  const unsubscribe: (() => void)[] = [];
  let running = false;

  const onRemoved = (number: number): void => {
    const exporter = exporters.get(number);
    exporters.delete(number);
    // The exporter's own loop calls this, and ends after this tick.
    void exporter?.stop();
  };

  const ensure = (number: number): void => {
    if (!running || exporters.has(number) || (sink && number === sinkNumber)) return;
    exporters.set(number, new Exporter(number, { ...options, onRemoved, compressor, budget }).start());
  };

  /** Opens the cursor, then calls `opened`. */
  const register = (number: number, opened: () => void): void => {
    telemetryLog
      .register(number)
      .then(opened, (error) =>
        log.error({ integration: number, error: messageOf(error) }, 'cursor cannot be opened'),
      );
  };

  /** Every integration gets an exporter, and so does every deleted one whose backlog is still to be discarded. */
  const reconcile = (): void => {
    for (const { number } of destinations.all()) register(number, () => ensure(number));
    if (sink) register(sinkNumber, () => sink.wake());
    for (const { number, removed } of telemetryLog.integrations()) if (!removed) ensure(number);
    for (const exporter of exporters.values()) exporter.wake();
  };

  const retention = new Loop({
    name: 'telemetry retention',
    log,
    tick: async () => {
      const { milliseconds, bytes } = options.retention();
      await telemetryLog.expire(clock.now() - milliseconds, bytes);
      return retentionEveryMs;
    },
  });

  return {
    start: () => {
      running = true;
      unsubscribe.push(
        destinations.onChange(reconcile),
        telemetryLog.onAppend((routes) => {
          if (routes.has(sinkNumber)) sink?.appended();
          for (const number of routes) {
            ensure(number);
            exporters.get(number)?.wake();
          }
        }),
      );
      sink?.start();
      reconcile();
      retention.start();
    },
    stop: async () => {
      running = false;
      for (const end of unsubscribe.splice(0)) end();
      await Promise.all([
        retention.stop(),
        sink?.stop(),
        ...[...exporters.values()].map((exporter) => exporter.stop()),
      ]);
    },
    wake: () => {
      retention.wake();
      sink?.wake();
      for (const exporter of exporters.values()) exporter.wake();
    },
    resume: (number) => exporters.get(number)?.resume(),
    report: async (number) => {
      const destination = destinations.get(number);
      if (destination === undefined && !telemetryLog.integrations().some((one) => one.number === number)) {
        return undefined;
      }
      const exporter = sink && number === sinkNumber ? sink : exporters.get(number);
      const delivery = exporter?.state() ?? {
        ...nothingSent,
        state: stateFromSettings(destination),
      };
      const oldest = await telemetryLog.oldest(number);
      return {
        number,
        ...telemetryLog.counters(number),
        oldest_at: oldest === null ? null : new Date(oldest),
        ...delivery,
        last_error: destination?.problem ?? delivery.last_error,
      };
    },
    deadLetters: createDeadLetters(options),
  };
};
