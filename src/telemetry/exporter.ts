import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { backoffMs } from './backoff.ts';
import { deflate } from './body.ts';
import type { Budget } from './budget.ts';
import type { Compressor } from './compress.ts';
import { Concurrency } from './concurrency.ts';
import type { DeadLetterStore } from './dead-letters.ts';
import type { TelemetryLog } from './log/log.ts';
import { outcomeOf, outcomeOfFailure } from './outcome.ts';
import type { Answer, Parcel } from './parcel.ts';
import { postMember } from './post.ts';
import type { Destination, Destinations } from './routing.ts';
import { Window } from './window.ts';

export interface ExporterParts {
  telemetryLog: TelemetryLog;
  deadLetters: DeadLetterStore;
  destinations: Destinations;
  compressor: Compressor;
  budget: Budget;
  egress: Pick<Egress, 'request'>;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** Of one request, in ms. */
  requestTimeoutMs: number;
  /** The backend was deleted and its account is closed. */
  onRemoved: (number: number) => void;
}

/** Uncompressed bytes of a request until a backend says that it wants less. */
const firstLimit = 4 * 1024 * 1024;
const probeEveryMs = 5 * 60_000;
/** So many spans refused, each alone, and none accepted since the last edit: the integration is wrong. */
const refusalsUntilPause = 16;
/** What requests under way may still take when the process stops. */
const stopGraceMs = 3_000;

/**
 * The delivery of one integration: reads its spans in order, sends them, one request at a time or a few side by
 * side, and moves its cursor. Knows nothing of the others, so none can hold another up.
 *
 * Each turn judges what was answered, commits, and sends what may be sent; every answer wakes it. When a request is
 * not accepted, nothing new is sent until all that are under way are answered; what those came to stands.
 */
export class Exporter {
  readonly number: number;
  readonly #parts: ExporterParts;
  readonly #loop: Loop;
  readonly #window: Window;
  readonly #concurrency = new Concurrency();
  readonly #underWay = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** An answer came and is not judged yet. */
  #answered = false;
  #stopping = false;
  #resumed = false;
  #revision: number | null = null;
  #limit = firstLimit;
  #failures = 0;
  /** Failures and pauses so far: a success says nothing new of a backend if it was sent before the last of them. */
  #troubles = 0;
  /** Why nothing is sent but a probe now and then. */
  #paused: string | null = null;
  /** By the clock that is passed in; 0 for at once. */
  #nextAttemptAt = 0;
  #acceptedSinceEdit = false;
  #refusedSinceEdit = 0;
  lastSuccessAt: number | null = null;
  lastError: string | null = null;

  constructor(number: number, parts: ExporterParts) {
    this.number = number;
    this.#parts = parts;
    this.#window = new Window(number, parts);
    this.#loop = new Loop({ name: `delivery ${number}`, log: parts.log, turn: () => this.#turn() });
  }

  start(): this {
    this.#loop.start();
    return this;
  }

  wake(): void {
    this.#loop.wake();
  }

  /** A test of the integration has succeeded: what is paused goes on, and what is refused now is refused for itself. */
  resume(): void {
    this.#resumed = true;
    this.#goOn();
    this.#loop.wake();
  }

  /** Lets requests under way finish for a few seconds. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#abort.abort(), stopGraceMs);
    await this.#loop.stop();
    await Promise.all(this.#underWay);
    clearTimeout(timer);
    await this.#settle().catch((error) =>
      this.#parts.log.error({ integration: this.number, error: messageOf(error) }, 'the last commit failed'),
    );
  }

  state(): { state: 'delivering' | 'retrying' | 'paused' | 'disabled'; nextAttemptAt: number | null } {
    const destination = this.#parts.destinations.get(this.number);
    if (!destination?.enabled) return { state: 'disabled', nextAttemptAt: null };
    if (destination.problem !== undefined) return { state: 'paused', nextAttemptAt: null };
    const edited = destination.revision !== this.#revision;
    const nextAttemptAt = edited || this.#nextAttemptAt === 0 ? null : this.#nextAttemptAt;
    if (this.#paused !== null && !edited) return { state: 'paused', nextAttemptAt };
    return { state: this.#failures > 0 && !edited ? 'retrying' : 'delivering', nextAttemptAt };
  }

  async #turn(): Promise<number | null> {
    await this.#settle();
    if (this.#stopping) return null;
    const { destinations, telemetryLog, clock } = this.#parts;
    const destination = destinations.get(this.number);
    if (this.#resumed || destination?.revision !== this.#revision) {
      // What is under way was sent to the old settings.
      if (this.#underWay.size > 0) return null;
      if (destination === undefined) return this.#remove();
      this.#startAnew(destination);
    }
    if (!telemetryLog.owns(this.number)) {
      // Another replica delivers it now, from the cursor; it begins with a request of its own.
      if (this.#underWay.size > 0) return null;
      this.#window.clear();
      this.#concurrency.reset();
      this.#goOn();
      return null;
    }
    if (!destination!.enabled) return null;
    if (destination!.problem !== undefined) {
      this.lastError = destination!.problem;
      return null;
    }
    const wait = this.#nextAttemptAt - clock.now();
    if (wait > 0) return wait;
    await this.#send(destination!);
    return null;
  }

  async #remove(): Promise<null> {
    const { telemetryLog, deadLetters, onRemoved } = this.#parts;
    this.#window.clear();
    await telemetryLog.remove(this.number);
    await deadLetters.drop(this.number);
    onRemoved(this.number);
    return null;
  }

  /** After an edit or a successful test. What the backend has accepted stays accepted. */
  #startAnew({ revision }: Destination): void {
    const edited = revision !== this.#revision;
    if (edited) {
      this.#refusedSinceEdit = 0;
      this.#limit = firstLimit;
    }
    this.#acceptedSinceEdit = !edited;
    this.#revision = revision;
    this.#resumed = false;
    this.#concurrency.reset();
    for (const parcel of this.#window.parcels) parcel.restart();
    this.#goOn();
  }

  /** Sends as much as may be under way now. */
  async #send(destination: Destination): Promise<void> {
    const window = this.#window;
    const unsent = () => window.parcels.filter(({ isSettled, underWay }) => !isSettled && !underWay);
    // What waited may have expired meanwhile.
    if (unsent().length > 0) window.clip();
    if (window.parcels.length === 0 && !(await this.#readAhead())) return this.#concurrency.reset();
    const inPieces = window.parcels.some(({ isSettled, isWhole }) => !isSettled && !isWhole);
    const alone = this.#paused !== null || inPieces;
    const allowed = alone ? 1 : this.#concurrency.allowed;
    for (const parcel of unsent()) {
      if (!this.#maySend(allowed) || !(await this.#dispatch(destination, parcel))) return;
    }
    while (!alone && window.parcels.length < allowed && this.#parts.budget.hasRoom()) {
      const parcel = await this.#readAhead();
      if (parcel === null || !this.#maySend(allowed) || !(await this.#dispatch(destination, parcel))) return;
    }
  }

  #maySend(allowed: number): boolean {
    return this.#underWay.size < allowed && !this.#answered && !this.#stopping;
  }

  #readAhead(): Promise<Parcel | null> {
    return this.#window.readAhead(this.#limit);
  }

  /** Sends what is next of a parcel, cut to what the backend takes. False where nothing was sent now. */
  async #dispatch(destination: Destination, parcel: Parcel): Promise<boolean> {
    if (!(await this.#window.load(parcel))) {
      // Damaged since it was read. What is under way is waited for, or it would be sent twice.
      if (this.#underWay.size > 0) return false;
      this.#window.clear();
      this.#loop.wake();
      return false;
    }
    if (this.#paused !== null) parcel.probe();
    while (parcel.spans > 1 && (await parcel.size()) > this.#limit) parcel.halve();
    const piece = parcel.isWhole ? null : await parcel.piece();
    // Pieces are sent when nothing else is under way: then the next answer wakes.
    if (piece !== null && this.#underWay.size > 0) return false;
    parcel.underWay = true;
    const sentAfter = this.#troubles;
    const request = this.#request(destination, parcel, piece).then((value) => {
      parcel.underWay = false;
      parcel.answer = { value, sentAfter };
      this.#answered = true;
      this.#underWay.delete(request);
      this.#loop.wake();
    });
    this.#underWay.add(request);
    return true;
  }

  /** One request: exactly one gzip member. `piece`: what to send, if not all of the parcel. */
  async #request(destination: Destination, parcel: Parcel, piece: Buffer | null): Promise<Answer> {
    const { egress, clock, requestTimeoutMs, compressor } = this.#parts;
    const { spans } = parcel;
    try {
      const { parts } = parcel.batch;
      // Of what a client compressed its own bytes; all else is compressed once for all integrations.
      const member =
        piece !== null
          ? await deflate(piece)
          : parts[0]!.gzip
            ? parts[0]!.bytes
            : await compressor.member(parts);
      if (piece === null) parcel.letGo(member.length);
      const response = await postMember(egress, destination, member, requestTimeoutMs, this.#abort.signal);
      return outcomeOf(destination, response, spans, clock.now());
    } catch (error) {
      if (this.#abort.signal.aborted) return null;
      try {
        return outcomeOfFailure(error);
      } catch {
        return { kind: 'defect', error };
      }
    }
  }

  /** Judges what was answered and commits what is settled. */
  async #settle(): Promise<void> {
    this.#answered = false;
    let defect: { error: unknown } | null = null;
    for (const parcel of [...this.#window.parcels]) {
      const { answer } = parcel;
      if (answer === null) continue;
      parcel.answer = null;
      if (answer.value?.kind === 'defect') {
        parcel.restart();
        defect = answer.value;
      } else if (answer.value !== null) await this.#judge(parcel, answer.value, answer.sentAfter);
      if (parcel.isSettled || parcel.isWhole) parcel.letGo();
    }
    const [head] = this.#window.parcels;
    // Until one was accepted, refused spans may be the integration's fault; but where there are too few of them to
    // tell, these spans are taken for the bad ones.
    if (head !== undefined && (this.#acceptedSinceEdit || head.isSettled)) {
      const { telemetryLog, clock } = this.#parts;
      const { parcels, spans } = await this.#window.commit();
      const backlog = () => {
        const { queued } = telemetryLog.totals(this.number);
        return { queued, waiting: queued - this.#window.spans };
      };
      if (spans > 0) this.#concurrency.passed(parcels, spans, backlog, clock.now());
    }
    if (defect !== null) throw defect.error;
  }

  async #judge(
    parcel: Parcel,
    outcome: Exclude<Answer, { kind: 'defect' } | null>,
    sentAfter: number,
  ): Promise<void> {
    if (outcome.kind === 'pause') return this.#pause(parcel, outcome.error, outcome.error);
    if (outcome.kind === 'retry') return this.#retry(parcel, outcome.error, outcome.afterMs, sentAfter);
    if (outcome.kind === 'accepted') {
      const error = outcome.error ?? parcel.refused.at(-1)?.reason ?? null;
      parcel.accept(outcome.rejected);
      this.#acceptedSinceEdit = true;
      this.lastSuccessAt = this.#parts.clock.now();
      if (sentAfter !== this.#troubles) return;
      this.lastError = error;
      this.#goOn();
    } else if (parcel.spans > 1) {
      // A single span that is too large is refused like any other; the limit is learnt from more than one.
      if (outcome.kind === 'too large') await this.#learn(parcel);
      parcel.halve();
    } else {
      const { status, error } = outcome;
      if (this.#paused !== null) return this.#pause(parcel, this.#paused, error);
      // Expired meanwhile, or damaged: the next turn sees to it.
      if (!(await this.#window.load(parcel))) return;
      parcel.refuse(status, error, await parcel.piece());
      this.lastError = error;
      if (!this.#acceptedSinceEdit && ++this.#refusedSinceEdit >= refusalsUntilPause) {
        this.#pause(parcel, `every span is refused: ${error}`, error);
      }
    }
  }

  async #learn(parcel: Parcel): Promise<void> {
    this.#limit = Math.min(this.#limit, Math.floor((await parcel.size()) / 2));
  }

  #goOn(): void {
    // What grew while nothing was sent says nothing of the backend's pace.
    if (this.#failures > 0 || this.#paused !== null) this.#concurrency.reset();
    this.#paused = null;
    this.#failures = 0;
    this.#nextAttemptAt = 0;
  }

  #pause(parcel: Parcel, reason: string, error: string): void {
    if (this.#paused === null) {
      this.#parts.log.warn({ integration: this.number, error: reason }, 'delivery paused');
    }
    this.#paused = reason;
    this.#refusedSinceEdit = 0;
    parcel.restart();
    this.#stumble(parcel, error, probeEveryMs);
  }

  #retry(parcel: Parcel, error: string, askedMs: number | null, sentAfter: number): void {
    // Requests that were under way together fail together: that is one failure.
    if (sentAfter === this.#troubles) this.#failures++;
    const wait = backoffMs(this.#failures, askedMs, this.#parts.random());
    this.#stumble(parcel, error, this.#paused === null ? wait : probeEveryMs);
  }

  /** From now on one request at a time, the next one in `waitMs` at the earliest. */
  #stumble(parcel: Parcel, error: string, waitMs: number): void {
    this.#troubles++;
    this.#concurrency.reset();
    parcel.letGo();
    this.lastError = error;
    this.#nextAttemptAt = Math.max(this.#nextAttemptAt, this.#parts.clock.now() + waitMs);
  }
}
