import { inflatedSize, release } from '@agent-platform/otlp';
import { type Batch, passed, type TelemetryLog } from '@agent-platform/otlp/log';
import type { Clock } from '../../lib/clock.ts';
import { ApiError, messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { type SpanSink, sinkNumber } from '../routing.ts';
import { backoffMs } from './backoff.ts';
import type { BackendReport } from './report.ts';

interface SinkParts {
  telemetryLog: TelemetryLog;
  clock: Clock;
  random: () => number;
  log: Logger;
}

/** Time that spans wait for others, which are stored with them: each visible later by this, and half as large. */
const gatherMs = 250;
/** With so many bytes queued nothing waits. */
const enoughBytes = 1024 * 1024;
/** Spans, and their bytes uncompressed, that are stored at once, roughly. */
const mostSpans = 20_000;
const mostBytes = 2 * 1024 * 1024;
/** The sink is at hand: what keeps it from storing ends suddenly, as when the database is back. */
const longestWaitMs = 5_000;
/** After so many failures that are not the database's, spans are stored one record at a time. */
const aloneAfter = 3;
/** After so many, the record is at fault. */
const dropAfter = 5;

type Request = Parameters<SpanSink['store']>[2][number];

const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'service_unavailable';

/** A limit of `perSecond` spans, of which those of one second may come at once. */
class Rate {
  #tokens = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** Milliseconds until more may be taken; 0: now. */
  wait(perSecond: number): number {
    const now = performance.now();
    this.#tokens = Math.min(perSecond, this.#tokens + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    return this.#tokens > 0 ? 0 : Math.ceil((-this.#tokens / perSecond) * 1_000) + 1;
  }

  take(spans: number): void {
    this.#tokens -= spans;
  }
}

/**
 * Gives the sink the spans of the log, in order. A span is counted as delivered if the sink has it, as rejected if it
 * cannot be stored, as discarded if the sink was too far behind. What the sink has says the sink, because a crash may
 * come between its transaction and the commit of the cursor.
 */
export class SinkExporter {
  readonly #sink: SpanSink;
  readonly #parts: SinkParts;
  readonly #loop: Loop;
  #lastSuccess: Date | null = null;
  #lastError: string | null = null;
  /** When to try again after a failure, by the clock. */
  #nextAttempt: Date | null = null;
  /** Failures in a row. */
  #failures = 0;
  readonly #rate = new Rate();
  #gatheredAt: number | null = null;
  /** Spans that the sink has, when it last said so; null after a start, and after another replica may have stored. */
  #stored: number | null = null;
  #defects = 0;

  constructor(sink: SpanSink, parts: SinkParts) {
    this.#sink = sink;
    this.#parts = parts;
    this.#loop = new Loop({ name: 'trace store', log: parts.log, tick: () => this.#tick() });
  }

  start(): this {
    this.#loop.start();
    return this;
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Spans were appended to the log. */
  appended(): void {
    this.#loop.wakeWithin(gatherMs);
  }

  /** Lets the transaction that is open end. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  state(): BackendReport {
    const working = this.#failures > 0 ? 'retrying' : 'delivering';
    return {
      state: this.#sink.routes() === 'off' ? 'disabled' : working,
      last_success_at: this.#lastSuccess,
      last_error: this.#lastError,
      next_attempt_at: this.#nextAttempt,
    };
  }

  async #tick(): Promise<number | null> {
    const { telemetryLog, clock } = this.#parts;
    if (!telemetryLog.owns(sinkNumber)) {
      this.#stored = null;
      return null;
    }
    // A replica of an older release does not know the sink, and takes it for an integration that was deleted.
    if (telemetryLog.integrations().some(({ number, removed }) => number === sinkNumber && removed)) {
      await telemetryLog.restore(sinkNumber);
      return 1_000;
    }
    const wait = (this.#nextAttempt?.getTime() ?? 0) - clock.now();
    if (wait > 0) return wait;
    const { queued, backlog_bytes: bytes } = telemetryLog.counters(sinkNumber);
    if (queued === 0) {
      this.#gatheredAt = null;
      return null;
    }
    try {
      if (bytes > this.#sink.mostBehind) await this.#jump();
      else {
        const gathering = this.#gather(bytes) || this.#rate.wait(this.#sink.spansPerSecond());
        if (gathering > 0) return gathering;
        await this.#store();
      }
      this.#defects = 0;
      this.#failures = 0;
      this.#lastError = null;
      this.#nextAttempt = null;
      this.#lastSuccess = new Date(clock.now());
    } catch (error) {
      this.#failed(error);
    }
    return 0;
  }

  /** Milliseconds to wait for more spans. */
  #gather(bytes: number): number {
    if (bytes >= enoughBytes) return 0;
    const now = performance.now();
    this.#gatheredAt ??= now + gatherMs;
    return Math.max(0, this.#gatheredAt - now);
  }

  async #store(): Promise<void> {
    const { telemetryLog } = this.#parts;
    const alone = this.#defects >= aloneAfter;
    const most = Math.min(mostSpans, this.#sink.spansPerSecond());
    const requests: Request[] = [];
    let spans = 0;
    let bytes = 0;
    let first: Batch | undefined;
    let last: Batch | undefined;
    do {
      const batch = await telemetryLog.read(sinkNumber, alone ? 1 : enoughBytes, last);
      if (batch === null) break;
      first ??= batch;
      last = batch;
      for (const { bytes: stored, gzip = false, spans: of } of batch.parts) {
        requests.push({ bytes: stored, gzip, spans: of });
        bytes += gzip ? inflatedSize(stored) : stored.length;
        spans += of;
      }
    } while (!alone && bytes < mostBytes && spans < most);
    if (first === undefined || last === undefined) return;
    const stored =
      this.#defects >= dropAfter
        ? await this.#sink.skip(telemetryLog.id, first.start + spans)
        : await this.#sink.store(telemetryLog.id, first.start, requests);
    // A plain request is a view of what the log read at once, of which others may be views too.
    for (const { bytes: read, gzip } of requests) {
      if (gzip && read.length === read.buffer.byteLength) release(read);
    }
    const delivered = this.#delivered(stored, spans);
    await telemetryLog.commit(last, last.spans, { delivered, rejected: spans - delivered });
    this.#rate.take(spans);
    this.#gatheredAt = null;
  }

  async #jump(): Promise<void> {
    const { telemetryLog, log } = this.#parts;
    await telemetryLog.jump(sinkNumber, async (through) => {
      const stored = await this.#sink.skip(telemetryLog.id, through);
      const spans = through - passed(telemetryLog.counters(sinkNumber));
      const delivered = this.#delivered(stored, spans);
      log.warn({ spans: spans - delivered }, 'the trace store is too far behind, and leaves out spans');
      return { delivered, discarded: spans - delivered };
    });
  }

  /**
   * Of `spans` behind the cursor, those that the sink has, which has `stored` in all. At first the cursor's own count says
   * how many it had before; a database that was restored from a backup has fewer.
   */
  #delivered(stored: number, spans: number): number {
    const before = this.#stored ?? this.#parts.telemetryLog.counters(sinkNumber).delivered;
    this.#stored = stored;
    return Math.min(spans, Math.max(0, stored - before));
  }

  #failed(error: unknown): void {
    const { clock, random, log } = this.#parts;
    if (!isUnavailable(error)) this.#defects++;
    this.#failures++;
    this.#stored = null;
    // The message of another error may hold what no one should read.
    this.#lastError = isUnavailable(error) ? messageOf(error) : 'The spans cannot be stored.';
    const waitMs = Math.min(longestWaitMs, backoffMs(this.#failures, null, random()));
    this.#nextAttempt = new Date(clock.now() + waitMs);
    log.warn({ error: messageOf(error), failures: this.#failures }, 'spans are not in the trace store yet');
  }
}
