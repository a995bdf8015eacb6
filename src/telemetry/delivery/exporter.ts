import type { TelemetryLog } from '@agent-platform/otlp/log';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import type { Destination, Destinations } from '../routing.ts';
import { BackendHealth } from './backend-health.ts';
import type { Budget } from './budget.ts';
import { Concurrency } from './concurrency.ts';
import type { InFlightBatch, RequestResult } from './in-flight-batch.ts';
import { type PostParts, postBatch } from './post.ts';
import type { BackendReport, DeliveryState } from './report.ts';
import { Window } from './window.ts';

export interface ExporterParts extends PostParts {
  telemetryLog: TelemetryLog;
  destinations: Destinations;
  budget: Budget;
  random: () => number;
  log: Logger;
  /** The integration was deleted and its counters are final. */
  onRemoved: (number: number) => void;
}

/** Uncompressed bytes of a request until a backend requires less. */
const firstLimit = 4 * 1024 * 1024;
/** Time that requests in flight may still take when the process stops. */
const stopGraceMs = 3_000;
/** Time that requests in flight may still take when an edit names another backend: the edit takes effect within 1 s. */
const abandonGraceMs = 500;

const dateOf = (time: number | null): Date | null => (time === null ? null : new Date(time));

/** The state of an integration by its settings; undefined: it was deleted. */
export const stateFromSettings = (
  destination: Destination | undefined,
): Exclude<DeliveryState, 'retrying'> => {
  if (!destination?.enabled) return 'disabled';
  return destination.problem === undefined ? 'delivering' : 'paused';
};

/**
 * The delivery of one integration: reads its spans in order, sends them, one or a few requests at a time, and moves its
 * cursor. It knows nothing of the other integrations, so none can hold up another.
 *
 * Each tick applies the results of requests, commits, and sends what may be sent; every result wakes it. When a request
 * is not accepted, nothing new is sent until all requests in flight have a result; those results count.
 */
export class Exporter {
  readonly number: number;
  readonly #parts: ExporterParts;
  readonly #loop: Loop;
  readonly #window: Window;
  readonly #concurrency = new Concurrency();
  readonly #health = new BackendHealth();
  readonly #underWay = new Set<Promise<void>>();
  /** Aborts the requests in flight. */
  #abort = new AbortController();
  #abandoning: NodeJS.Timeout | undefined;
  /** True if a result is not applied yet. */
  #hasResult = false;
  #stopping = false;
  #resumed = false;
  #revision: number | null = null;
  /** Backend of the requests in flight. */
  #url: string | null = null;
  #limit = firstLimit;

  constructor(number: number, parts: ExporterParts) {
    this.number = number;
    this.#parts = parts;
    this.#window = new Window(number, parts);
    this.#loop = new Loop({ name: `delivery ${number}`, log: parts.log, tick: () => this.#tick() });
  }

  start(): this {
    this.#loop.start();
    return this;
  }

  wake(): void {
    this.#loop.wake();
  }

  /**
   * A test of the integration has succeeded: a paused delivery resumes, and spans that are refused from now on are at
   * fault themselves.
   */
  resume(): void {
    this.#resumed = true;
    this.#resumeBackend();
    this.#loop.wake();
  }

  /** Lets requests in flight finish for a few seconds. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#abort.abort(), stopGraceMs);
    await this.#loop.stop();
    await Promise.all(this.#underWay);
    clearTimeout(timer);
    clearTimeout(this.#abandoning);
    await this.#settle().catch((error) =>
      this.#parts.log.error({ integration: this.number, error: messageOf(error) }, 'the last commit failed'),
    );
  }

  /** The state of delivery, for the integration's health. */
  state(): BackendReport {
    const { lastSuccessAt, lastError, nextAttemptAt, state } = this.#health;
    const report = { last_success_at: dateOf(lastSuccessAt), last_error: lastError, next_attempt_at: null };
    const destination = this.#parts.destinations.get(this.number);
    const fromSettings = stateFromSettings(destination);
    // An edit is tried at once, in the next tick.
    if (fromSettings !== 'delivering' || destination?.revision !== this.#revision) {
      return { ...report, state: fromSettings };
    }
    return { ...report, state, next_attempt_at: nextAttemptAt === 0 ? null : dateOf(nextAttemptAt) };
  }

  async #tick(): Promise<number | null> {
    await this.#settle();
    if (this.#stopping) return null;
    const { destinations, telemetryLog, clock } = this.#parts;
    const destination = destinations.get(this.number);
    if (this.#resumed || destination?.revision !== this.#revision) {
      // Requests in flight were sent to the old settings.
      if (this.#underWay.size > 0) {
        if (destination?.url !== this.#url) this.#abandon();
        return null;
      }
      clearTimeout(this.#abandoning);
      this.#abandoning = undefined;
      if (destination === undefined) return this.#remove();
      this.#reset(destination);
    }
    if (!telemetryLog.owns(this.number)) {
      // Another replica delivers it now, from the cursor, and begins with one request.
      if (this.#underWay.size > 0) return null;
      this.#window.clear();
      this.#concurrency.reset();
      this.#resumeBackend();
      return null;
    }
    if (!destination!.enabled) return null;
    if (destination!.problem !== undefined) {
      this.#health.lastError = destination!.problem;
      return null;
    }
    const wait = this.#health.nextAttemptAt - clock.now();
    if (wait > 0) return wait;
    await this.#send(destination!);
    return null;
  }

  /** A request that hangs would hold up the edit, or the deletion, for the whole of its time limit. */
  #abandon(): void {
    this.#abandoning ??= setTimeout(() => {
      this.#abort.abort();
      this.#abort = new AbortController();
    }, abandonGraceMs);
  }

  async #remove(): Promise<null> {
    const { telemetryLog, onRemoved } = this.#parts;
    this.#window.clear();
    await telemetryLog.remove(this.number);
    onRemoved(this.number);
    return null;
  }

  /** Resets delivery after an edit or a successful test. Spans that the backend has accepted stay accepted. */
  #reset({ revision, url }: Destination): void {
    const edited = revision !== this.#revision;
    if (edited) this.#limit = firstLimit;
    this.#revision = revision;
    this.#url = url;
    this.#resumed = false;
    this.#concurrency.reset();
    this.#health.reset(edited);
    for (const batch of this.#window.batches) batch.restart();
  }

  /** Sends as much as may be in flight now. */
  async #send(destination: Destination): Promise<void> {
    const window = this.#window;
    const unsent = () => window.batches.filter(({ isSettled, underWay }) => !isSettled && !underWay);
    // Batches that waited may have expired in the meantime.
    if (unsent().length > 0) window.dropPassed();
    if (window.batches.length === 0 && !(await this.#readAhead())) return this.#concurrency.reset();
    const inChunks = window.batches.some(({ isSettled, isWhole }) => !isSettled && !isWhole);
    const alone = this.#health.paused || inChunks;
    const allowed = alone ? 1 : this.#concurrency.allowed;
    for (const batch of unsent()) {
      if (!this.#maySend(allowed) || !(await this.#dispatch(destination, batch))) return;
    }
    while (!alone && window.batches.length < allowed && this.#parts.budget.hasRoom()) {
      const batch = await this.#readAhead();
      if (batch === null || !this.#maySend(allowed) || !(await this.#dispatch(destination, batch))) return;
    }
  }

  #maySend(allowed: number): boolean {
    return this.#underWay.size < allowed && !this.#hasResult && !this.#stopping;
  }

  #readAhead(): Promise<InFlightBatch | null> {
    return this.#window.readAhead(this.#limit);
  }

  /** Sends the next request of a batch, cut to what the backend takes. Resolves to false if nothing was sent now. */
  async #dispatch(destination: Destination, batch: InFlightBatch): Promise<boolean> {
    if (!(await this.#window.load(batch))) {
      // Damaged since it was read. Wait for what is in flight, or it would be sent twice.
      if (this.#underWay.size > 0) return false;
      this.#window.clear();
      this.#loop.wake();
      return false;
    }
    if (this.#health.paused) batch.probe();
    while (batch.spans > 1 && (await batch.size()) > this.#limit) batch.bisect();
    const chunk = batch.isWhole ? null : await batch.chunk();
    // Chunks are sent when nothing else is in flight: then the next result wakes the loop.
    if (chunk !== null && this.#underWay.size > 0) return false;
    batch.underWay = true;
    const sentAfter = this.#health.incidents;
    const request = postBatch(this.#parts, destination, batch, chunk, this.#abort.signal).then((value) => {
      batch.underWay = false;
      batch.result = { value, sentAfter };
      this.#hasResult = true;
      this.#underWay.delete(request);
      this.#loop.wake();
    });
    this.#underWay.add(request);
    return true;
  }

  /** Applies the results that have come, and commits what is settled. */
  async #settle(): Promise<void> {
    this.#hasResult = false;
    let defect: { error: unknown } | null = null;
    for (const batch of [...this.#window.batches]) {
      const { result } = batch;
      if (result === null) continue;
      batch.result = null;
      if (result.value?.kind === 'defect') {
        batch.restart();
        defect = result.value;
      } else if (result.value !== null) await this.#apply(batch, result.value, result.sentAfter);
      if (batch.isSettled || batch.isWhole) batch.release();
    }
    const [head] = this.#window.batches;
    // Until a span was accepted, the settings may be the reason why others were refused. If there are too few of them
    // to decide, the spans themselves are considered bad.
    if (head !== undefined && (this.#health.acceptedSinceEdit || head.isSettled)) {
      const { telemetryLog, clock } = this.#parts;
      const { batches, spans } = await this.#window.commit();
      const backlog = () => {
        const { queued } = telemetryLog.counters(this.number);
        return { queued, waiting: queued - this.#window.spans };
      };
      if (spans > 0) this.#concurrency.passed(batches, spans, backlog, clock.now());
    }
    if (defect !== null) throw defect.error;
  }

  async #apply(
    batch: InFlightBatch,
    outcome: Exclude<RequestResult, { kind: 'defect' } | null>,
    sentAfter: number,
  ): Promise<void> {
    const health = this.#health;
    if (outcome.kind === 'pause') return this.#pause(batch, outcome.error, outcome.error);
    if (outcome.kind === 'retry') return this.#retry(batch, outcome.error, outcome.afterMs, sentAfter);
    if (outcome.kind === 'accepted') {
      const error = outcome.error ?? batch.refused.at(-1)?.reason ?? null;
      batch.accept(outcome.rejected);
      if (health.accepted(error, sentAfter, this.#parts.clock.now())) this.#resumeBackend();
    } else if (batch.spans > 1) {
      // A single span that is too large is refused like any other: the limit is learnt from more than one.
      if (outcome.kind === 'too large') await this.#lowerLimit(batch);
      batch.bisect();
    } else {
      const { status, error } = outcome;
      if (health.paused) return this.#pause(batch, error, error);
      // Expired in the meantime, or damaged: the next tick drops it.
      if (!(await this.#window.load(batch))) return;
      batch.refuse(status, error, await batch.chunk());
      if (health.refused(error)) this.#pause(batch, `every span is refused: ${error}`, error);
    }
  }

  async #lowerLimit(batch: InFlightBatch): Promise<void> {
    this.#limit = Math.min(this.#limit, Math.floor((await batch.size()) / 2));
  }

  #resumeBackend(): void {
    // A backlog that grew while nothing was sent says nothing of the backend's pace.
    if (this.#health.state !== 'delivering') this.#concurrency.reset();
    this.#health.resume();
  }

  /** `reason`: for the log, when the pause begins. */
  #pause(batch: InFlightBatch, reason: string, error: string): void {
    if (this.#health.pause(error, this.#parts.clock.now())) {
      this.#parts.log.warn({ integration: this.number, error: reason }, 'delivery paused');
    }
    batch.restart();
    this.#slowDown(batch);
  }

  #retry(batch: InFlightBatch, error: string, retryAfterMs: number | null, sentAfter: number): void {
    const { clock, random } = this.#parts;
    this.#health.retry(error, retryAfterMs, sentAfter, clock.now(), random());
    this.#slowDown(batch);
  }

  /** Allows one request at a time from now on. */
  #slowDown(batch: InFlightBatch): void {
    this.#concurrency.reset();
    batch.release();
  }
}
