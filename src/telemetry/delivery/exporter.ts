import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import type { TelemetryLog } from '../log/log.ts';
import type { Destination, Destinations } from '../routing.ts';
import { Standing } from './backend-health.ts';
import type { Budget } from './budget.ts';
import { Concurrency } from './concurrency.ts';
import type { Answer, Parcel } from './in-flight-batch.ts';
import { type PostParts, postParcel } from './post.ts';
import type { DeliveryReport, DeliveryState } from './report.ts';
import { Window } from './window.ts';

export interface ExporterParts extends PostParts {
  telemetryLog: TelemetryLog;
  destinations: Destinations;
  budget: Budget;
  random: () => number;
  log: Logger;
  /** The backend was deleted and its account is closed. */
  onRemoved: (number: number) => void;
}

/** Uncompressed bytes of a request until a backend says that it wants less. */
const firstLimit = 4 * 1024 * 1024;
/** What requests under way may still take when the process stops. */
const stopGraceMs = 3_000;
/** What requests under way may still take when their backend was left: an edit takes effect within 1 s. */
const leaveGraceMs = 500;

type BackendReport = Pick<DeliveryReport, 'state' | 'last_success_at' | 'last_error' | 'next_attempt_at'>;

const dateOf = (time: number | null): Date | null => (time === null ? null : new Date(time));

/** The state of an integration of which nothing is known but its settings; undefined: it was deleted. */
export const stateBySettings = (destination: Destination | undefined): Exclude<DeliveryState, 'retrying'> => {
  if (!destination?.enabled) return 'disabled';
  return destination.problem === undefined ? 'delivering' : 'paused';
};

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
  readonly #standing = new Standing();
  readonly #underWay = new Set<Promise<void>>();
  /** Ends the requests under way. */
  #abort = new AbortController();
  #leaving: NodeJS.Timeout | undefined;
  /** An answer came and is not judged yet. */
  #answered = false;
  #stopping = false;
  #resumed = false;
  #revision: number | null = null;
  /** Where the requests under way were sent to. */
  #url: string | null = null;
  #limit = firstLimit;

  constructor(number: number, parts: ExporterParts) {
    this.number = number;
    this.#parts = parts;
    this.#window = new Window(number, parts);
    this.#loop = new Loop({ name: `delivery ${number}`, log: parts.log, tick: () => this.#turn() });
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
    clearTimeout(this.#leaving);
    await this.#settle().catch((error) =>
      this.#parts.log.error({ integration: this.number, error: messageOf(error) }, 'the last commit failed'),
    );
  }

  /** The state of delivery, for the integration's health. */
  state(): BackendReport {
    const { lastSuccessAt, lastError, nextAttemptAt, state } = this.#standing;
    const report = { last_success_at: dateOf(lastSuccessAt), last_error: lastError, next_attempt_at: null };
    const destination = this.#parts.destinations.get(this.number);
    const bySettings = stateBySettings(destination);
    // An edit is tried at once, in the next tick.
    if (bySettings !== 'delivering' || destination?.revision !== this.#revision) {
      return { ...report, state: bySettings };
    }
    return { ...report, state, next_attempt_at: nextAttemptAt === 0 ? null : dateOf(nextAttemptAt) };
  }

  async #turn(): Promise<number | null> {
    await this.#settle();
    if (this.#stopping) return null;
    const { destinations, telemetryLog, clock } = this.#parts;
    const destination = destinations.get(this.number);
    if (this.#resumed || destination?.revision !== this.#revision) {
      // What is under way was sent to the old settings.
      if (this.#underWay.size > 0) {
        if (destination?.url !== this.#url) this.#leave();
        return null;
      }
      clearTimeout(this.#leaving);
      this.#leaving = undefined;
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
      this.#standing.lastError = destination!.problem;
      return null;
    }
    const wait = this.#standing.nextAttemptAt - clock.now();
    if (wait > 0) return wait;
    await this.#send(destination!);
    return null;
  }

  /** A request that hangs would hold up the edit, or the deletion, for the whole of its time limit. */
  #leave(): void {
    this.#leaving ??= setTimeout(() => {
      this.#abort.abort();
      this.#abort = new AbortController();
    }, leaveGraceMs);
  }

  async #remove(): Promise<null> {
    const { telemetryLog, onRemoved } = this.#parts;
    this.#window.clear();
    await telemetryLog.remove(this.number);
    onRemoved(this.number);
    return null;
  }

  /** After an edit or a successful test. What the backend has accepted stays accepted. */
  #startAnew({ revision, url }: Destination): void {
    const edited = revision !== this.#revision;
    if (edited) this.#limit = firstLimit;
    this.#revision = revision;
    this.#url = url;
    this.#resumed = false;
    this.#concurrency.reset();
    this.#standing.startAnew(edited);
    for (const parcel of this.#window.parcels) parcel.restart();
  }

  /** Sends as much as may be under way now. */
  async #send(destination: Destination): Promise<void> {
    const window = this.#window;
    const unsent = () => window.parcels.filter(({ isSettled, underWay }) => !isSettled && !underWay);
    // What waited may have expired meanwhile.
    if (unsent().length > 0) window.clip();
    if (window.parcels.length === 0 && !(await this.#readAhead())) return this.#concurrency.reset();
    const inPieces = window.parcels.some(({ isSettled, isWhole }) => !isSettled && !isWhole);
    const alone = this.#standing.paused || inPieces;
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
    if (this.#standing.paused) parcel.probe();
    while (parcel.spans > 1 && (await parcel.size()) > this.#limit) parcel.halve();
    const piece = parcel.isWhole ? null : await parcel.piece();
    // Pieces are sent when nothing else is under way: then the next answer wakes.
    if (piece !== null && this.#underWay.size > 0) return false;
    parcel.underWay = true;
    const sentAfter = this.#standing.troubles;
    const request = postParcel(this.#parts, destination, parcel, piece, this.#abort.signal).then((value) => {
      parcel.underWay = false;
      parcel.answer = { value, sentAfter };
      this.#answered = true;
      this.#underWay.delete(request);
      this.#loop.wake();
    });
    this.#underWay.add(request);
    return true;
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
    if (head !== undefined && (this.#standing.acceptedSinceEdit || head.isSettled)) {
      const { telemetryLog, clock } = this.#parts;
      const { parcels, spans } = await this.#window.commit();
      const backlog = () => {
        const { queued } = telemetryLog.counters(this.number);
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
    const standing = this.#standing;
    if (outcome.kind === 'pause') return this.#pause(parcel, outcome.error, outcome.error);
    if (outcome.kind === 'retry') return this.#retry(parcel, outcome.error, outcome.afterMs, sentAfter);
    if (outcome.kind === 'accepted') {
      const error = outcome.error ?? parcel.refused.at(-1)?.reason ?? null;
      parcel.accept(outcome.rejected);
      if (standing.accepted(error, sentAfter, this.#parts.clock.now())) this.#goOn();
    } else if (parcel.spans > 1) {
      // A single span that is too large is refused like any other; the limit is learnt from more than one.
      if (outcome.kind === 'too large') await this.#learn(parcel);
      parcel.halve();
    } else {
      const { status, error } = outcome;
      if (standing.paused) return this.#pause(parcel, error, error);
      // Expired meanwhile, or damaged: the next turn sees to it.
      if (!(await this.#window.load(parcel))) return;
      parcel.refuse(status, error, await parcel.piece());
      if (standing.refused(error)) this.#pause(parcel, `every span is refused: ${error}`, error);
    }
  }

  async #learn(parcel: Parcel): Promise<void> {
    this.#limit = Math.min(this.#limit, Math.floor((await parcel.size()) / 2));
  }

  #goOn(): void {
    // What grew while nothing was sent says nothing of the backend's pace.
    if (this.#standing.state !== 'delivering') this.#concurrency.reset();
    this.#standing.goOn();
  }

  /** `reason`: for the log, where the pause begins. */
  #pause(parcel: Parcel, reason: string, error: string): void {
    if (this.#standing.pause(error, this.#parts.clock.now())) {
      this.#parts.log.warn({ integration: this.number, error: reason }, 'delivery paused');
    }
    parcel.restart();
    this.#oneAtATime(parcel);
  }

  #retry(parcel: Parcel, error: string, askedMs: number | null, sentAfter: number): void {
    const { clock, random } = this.#parts;
    this.#standing.retry(error, askedMs, sentAfter, clock.now(), random());
    this.#oneAtATime(parcel);
  }

  #oneAtATime(parcel: Parcel): void {
    this.#concurrency.reset();
    parcel.letGo();
  }
}
