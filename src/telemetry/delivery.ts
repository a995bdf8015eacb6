import { messageOf } from '../lib/errors.ts';
import { Loop } from '../lib/loop.ts';
import type { DeadLetters } from './dead-letters.ts';
import { Exporter, type ExporterParts, postSpans } from './exporter.ts';
import type { Totals } from './log/log.ts';
import { outcomeOf, outcomeOfFailure } from './outcome.ts';

type DeliveryState = 'delivering' | 'retrying' | 'paused' | 'disabled';

/** `GET /observability/integrations/{id}/health`: counts in spans, times RFC 3339 or null. */
export interface Health extends Totals {
  state: DeliveryState;
  backlog_age_seconds: number;
  last_success_at: string | null;
  last_error: string | null;
  next_attempt_at: string | null;
}

export interface DeliveryOptions extends Omit<ExporterParts, 'onRemoved' | 'requestTimeoutMs'> {
  /** Default 30 s. */
  requestTimeoutMs?: number;
  /** How long spans and dead letters are kept, in ms, and how large the log may grow, in bytes. */
  retention: () => { milliseconds: number; bytes: number };
}

/** The exporters of all integrations, and the retention of what they have not delivered. */
export interface Delivery {
  start(): void;
  stop(): Promise<void>;
  /** Everybody looks again now: after a change, or when a test has moved the clock. */
  wake(): void;
  resume(number: number): void;
  health(number: number): Promise<Health | undefined>;
  deadLetters: DeadLetters;
}

const retentionEveryMs = 60_000;
const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { telemetryLog, destinations, deadLetters, clock, log, egress } = options;
  const requestTimeoutMs = options.requestTimeoutMs ?? 30_000;
  const exporters = new Map<number, Exporter>();
  const off: (() => void)[] = [];
  let running = false;

  const onRemoved = (number: number): void => {
    const exporter = exporters.get(number);
    exporters.delete(number);
    // Its own loop calls this: it ends after this turn.
    void exporter?.stop();
  };

  const ensure = (number: number): void => {
    if (!running || exporters.has(number)) return;
    exporters.set(number, new Exporter(number, { ...options, requestTimeoutMs, onRemoved }).start());
  };

  /** An exporter for each integration there is, and for each deleted one whose backlog is to be closed. */
  const reconcile = (): void => {
    for (const { number } of destinations.all()) {
      telemetryLog.register(number).then(
        () => ensure(number),
        (error) => log.error({ integration: number, error: messageOf(error) }, 'cursor cannot be opened'),
      );
    }
    for (const { number, removed } of telemetryLog.integrations()) if (!removed) ensure(number);
    for (const exporter of exporters.values()) exporter.wake();
  };

  const retention = new Loop({
    name: 'telemetry retention',
    log,
    turn: async () => {
      const { milliseconds, bytes } = options.retention();
      const before = clock.now() - milliseconds;
      await telemetryLog.expire(before, bytes);
      await deadLetters.expire(before);
      return retentionEveryMs;
    },
  });

  return {
    start: () => {
      running = true;
      off.push(
        destinations.onChange(reconcile),
        telemetryLog.onAppend((routes) => {
          for (const number of routes) {
            ensure(number);
            exporters.get(number)?.wake();
          }
        }),
      );
      reconcile();
      retention.start();
    },
    stop: async () => {
      running = false;
      for (const leave of off.splice(0)) leave();
      await Promise.all([retention.stop(), ...[...exporters.values()].map((exporter) => exporter.stop())]);
    },
    wake: () => {
      retention.wake();
      for (const exporter of exporters.values()) exporter.wake();
    },
    resume: (number) => exporters.get(number)?.resume(),
    health: async (number) => {
      const destination = destinations.get(number);
      if (destination === undefined && !telemetryLog.integrations().some((one) => one.number === number)) {
        return undefined;
      }
      const exporter = exporters.get(number);
      const state = exporter?.state() ?? { state: 'disabled' as const, nextAttemptAt: null };
      const oldest = await telemetryLog.oldest(number);
      return {
        state: state.state,
        ...telemetryLog.totals(number),
        backlog_age_seconds: oldest === null ? 0 : Math.max(0, Math.round((clock.now() - oldest) / 1000)),
        last_success_at: iso(exporter?.lastSuccessAt ?? null),
        last_error: destination?.problem ?? exporter?.lastError ?? null,
        next_attempt_at: iso(state.nextAttemptAt),
      };
    },
    deadLetters: {
      list: (number, { limit = 50, after } = {}) => deadLetters.list(number, limit, after),
      purge: (number, ids) => deadLetters.end(number, ids, 'discarded'),
      retry: async (number, ids) => {
        const wanted = ids ?? (await deadLetters.ids(number));
        const result = { delivered: 0, failed: 0 };
        for (const [index, id] of wanted.entries()) {
          const destination = destinations.get(number);
          const found = await deadLetters.get(number, id);
          if (!found || !destination || destination.problem !== undefined) {
            result.failed++;
            continue;
          }
          const outcome = await postSpans(egress, destination, found.span, requestTimeoutMs).then(
            (response) => outcomeOf(destination, response, 1, clock.now()),
            outcomeOfFailure,
          );
          if (outcome.kind === 'accepted' && outcome.rejected === 0) {
            result.delivered += await deadLetters.end(number, [id], 'delivered');
            continue;
          }
          if (outcome.kind === 'retry' || outcome.kind === 'pause') {
            // The backend takes nothing now: the others would only wait in vain.
            result.failed += wanted.length - index;
            break;
          }
          result.failed++;
        }
        return result;
      },
    },
  };
};
