import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { backoffMs } from './backoff.ts';
import type { Compressor } from './compress.ts';
import type { DeadLetterStore } from './dead-letters.ts';
import { type Batch, passed, type TelemetryLog } from './log/log.ts';
import { type Outcome, outcomeOf, outcomeOfFailure } from './outcome.ts';
import { compress, postMember } from './post.ts';
import type { Destination, Destinations } from './routing.ts';
import { takeSpans } from './wire.ts';

const inflate = promisify(gunzip);

export interface ExporterParts {
  telemetryLog: TelemetryLog;
  deadLetters: DeadLetterStore;
  destinations: Destinations;
  compressor: Compressor;
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
/** What a request under way may still take when the process stops. */
const stopGraceMs = 3_000;

/** A span that was refused alone, and not yet put among the dead letters. */
interface Refused {
  ordinal: number;
  status: number;
  reason: string;
  span: Buffer;
}

/** A batch on its way, and how far its halving has come: kept over retries, lost with the process. */
interface Work {
  batch: Batch;
  /** The batch as one request; null while it is known only as the gzip member that came. */
  bytes: Buffer | null;
  /** The length of `bytes`. */
  size: number;
  /** What is still to be sent, the next range last. */
  ranges: [from: number, to: number][];
  /** Refused ones right before the next range. */
  refused: Refused[];
}

/**
 * The delivery of one integration: reads its spans in order, sends them one request at a time, and moves its
 * cursor. Knows nothing of the others, so none can hold another up.
 */
export class Exporter {
  readonly number: number;
  readonly #parts: ExporterParts;
  readonly #loop: Loop;
  readonly #abort = new AbortController();
  #stopping = false;
  #revision: number | null = null;
  #limit = firstLimit;
  #failures = 0;
  /** Why nothing is sent but a probe now and then. */
  #paused: string | null = null;
  /** By the clock that is passed in; 0 for at once. */
  #nextAttemptAt = 0;
  #acceptedSinceEdit = false;
  #refusedSinceEdit = 0;
  #work: Work | null = null;
  lastSuccessAt: number | null = null;
  lastError: string | null = null;

  constructor(number: number, parts: ExporterParts) {
    this.number = number;
    this.#parts = parts;
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
    this.#acceptedSinceEdit = true;
    this.#work = null;
    this.#goOn();
    this.#loop.wake();
  }

  /** Lets a request under way finish for a few seconds. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#abort.abort(), stopGraceMs);
    await this.#loop.stop();
    clearTimeout(timer);
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
    const { destinations, telemetryLog, deadLetters, clock, onRemoved } = this.#parts;
    const destination = destinations.get(this.number);
    if (destination === undefined) {
      await telemetryLog.remove(this.number);
      await deadLetters.drop(this.number);
      onRemoved(this.number);
      return null;
    }
    if (destination.revision !== this.#revision) {
      this.#revision = destination.revision;
      this.#acceptedSinceEdit = false;
      this.#refusedSinceEdit = 0;
      this.#limit = firstLimit;
      this.#work = null;
      this.#goOn();
    }
    if (!destination.enabled) return null;
    if (destination.problem !== undefined) {
      this.lastError = destination.problem;
      return null;
    }
    const wait = this.#nextAttemptAt - clock.now();
    if (wait > 0) return wait;
    if (this.#work !== null && !this.#isNext(this.#work)) this.#work = null;
    this.#work ??= await this.#take();
    if (this.#work === null || this.#stopping) return null;
    try {
      return await this.#deliver(destination, this.#work);
    } catch (error) {
      this.#work = null;
      throw error;
    }
  }

  /** Whether the cursor still stands where the work goes on: what expired meanwhile is not sent any more. */
  #isNext({ batch, ranges, refused }: Work): boolean {
    const next = ranges.at(-1)?.[0] ?? batch.spans;
    return passed(this.#parts.telemetryLog.totals(this.number)) === batch.start + next - refused.length;
  }

  /** The next batch; while paused only its first span, to probe with. */
  async #take(): Promise<Work | null> {
    const batch = await this.#parts.telemetryLog.read(this.number, this.#limit);
    if (batch === null) return null;
    const [first] = batch.parts;
    const bytes = first!.gzip
      ? null
      : batch.parts.length === 1
        ? first!.bytes
        : Buffer.concat(batch.parts.map((part) => part.bytes));
    // A member ends with the length of what it inflates to (RFC 1952, 2.3.1).
    const size = bytes?.length ?? first!.bytes.readUInt32LE(first!.bytes.length - 4);
    return { batch, bytes, size, ranges: [[0, this.#paused === null ? batch.spans : 1]], refused: [] };
  }

  /** Sends a batch, halving what is refused until the bad spans are found. Answers how long to sleep. */
  async #deliver(destination: Destination, work: Work): Promise<number | null> {
    const { batch, ranges, refused } = work;
    const plain = async (): Promise<Buffer> => (work.bytes ??= await inflate(batch.parts[0]!.bytes));
    const probing = this.#paused !== null;
    while (ranges.length > 0) {
      const [from, to] = ranges.at(-1)!;
      const spans = to - from;
      const halve = (): void => {
        const middle = from + Math.ceil(spans / 2);
        ranges.splice(-1, 1, [middle, to], [from, middle]);
      };
      const part = spans === batch.spans ? null : takeSpans(await plain(), from, to);
      const size = part?.length ?? work.size;
      if (size > this.#limit && spans > 1) {
        halve();
        continue;
      }
      const outcome = await this.#send(destination, spans, () =>
        part === null ? this.#memberOf(batch) : compress(part),
      );
      if (outcome === null) return null;
      if (outcome.kind === 'pause') return this.#pause(outcome.error, outcome.error);
      if (outcome.kind === 'retry') return this.#retry(outcome.error, outcome.afterMs);
      let moved = true;
      if (outcome.kind === 'accepted') {
        ranges.pop();
        this.#succeeded(outcome.error ?? refused.at(-1)?.reason ?? null);
        moved = await this.#commit(batch, to, refused, spans - outcome.rejected, outcome.rejected);
      } else if (spans > 1) {
        // A single span that is too large is refused like any other; the limit is learnt from more than one.
        if (outcome.kind === 'too large') this.#limit = Math.floor(size / 2);
        halve();
      } else {
        if (probing) return this.#pause(this.#paused!, outcome.error);
        ranges.pop();
        const { status, error } = outcome;
        refused.push({ ordinal: batch.start + from, status, reason: error, span: part ?? (await plain()) });
        this.lastError = error;
        if (this.#acceptedSinceEdit) moved = await this.#commit(batch, to, refused, 0, 0);
        else if (++this.#refusedSinceEdit >= refusalsUntilPause) {
          return this.#pause(`every span is refused: ${error}`, error);
        }
      }
      if (!moved) {
        // Expired meanwhile.
        this.#work = null;
        return 0;
      }
      if (this.#stopping || this.#edited(destination)) return 0;
    }
    // Fewer refusals than would tell a wrong integration from bad spans: these spans are taken for the bad ones.
    await this.#commit(batch, batch.spans, refused, 0, 0);
    this.#work = null;
    return 0;
  }

  /** Of what a client compressed its own bytes; all else is compressed once for all integrations. */
  #memberOf(batch: Batch): Promise<Buffer> {
    const [first] = batch.parts;
    return first!.gzip ? Promise.resolve(first!.bytes) : this.#parts.compressor.member(batch.parts);
  }

  /** One request: exactly one gzip member. Null where the process stops. */
  async #send(
    destination: Destination,
    spans: number,
    member: () => Promise<Buffer>,
  ): Promise<Outcome | null> {
    const { egress, clock, requestTimeoutMs } = this.#parts;
    try {
      const response = await postMember(
        egress,
        destination,
        await member(),
        requestTimeoutMs,
        this.#abort.signal,
      );
      return outcomeOf(destination, response, spans, clock.now());
    } catch (error) {
      return this.#abort.signal.aborted ? null : outcomeOfFailure(error);
    }
  }

  /** Moves the cursor to behind span `to` of the batch. The letters are on disk before they are counted. */
  async #commit(
    batch: Batch,
    to: number,
    refused: Refused[],
    delivered: number,
    rejected: number,
  ): Promise<boolean> {
    const letters = refused.splice(0);
    if (letters.length + delivered + rejected === 0) return true;
    const { deadLetters, telemetryLog, clock } = this.#parts;
    const at = new Date(clock.now()).toISOString();
    for (const { ordinal, status, reason, span } of letters) {
      await deadLetters.put(this.number, ordinal, { at, status, reason, bytes: span.length }, span);
    }
    const moved = await telemetryLog.commit(batch, to, {
      delivered,
      rejected,
      dead_lettered: letters.length,
    });
    if (!moved)
      await deadLetters.withdraw(
        this.number,
        letters.map(({ ordinal }) => ordinal),
      );
    return moved;
  }

  #edited(destination: Destination): boolean {
    return this.#parts.destinations.get(this.number)?.revision !== destination.revision;
  }

  #succeeded(error: string | null): void {
    this.#acceptedSinceEdit = true;
    this.lastSuccessAt = this.#parts.clock.now();
    this.lastError = error;
    this.#goOn();
  }

  #goOn(): void {
    this.#paused = null;
    this.#failures = 0;
    this.#nextAttemptAt = 0;
  }

  #pause(reason: string, error: string): number {
    if (this.#paused === null) {
      this.#parts.log.warn({ integration: this.number, error: reason }, 'delivery paused');
    }
    this.#paused = reason;
    this.lastError = error;
    this.#refusedSinceEdit = 0;
    this.#work = null;
    this.#nextAttemptAt = this.#parts.clock.now() + probeEveryMs;
    return probeEveryMs;
  }

  #retry(error: string, askedMs: number | null): number {
    const { clock, random } = this.#parts;
    this.lastError = error;
    this.#failures++;
    const wait = this.#paused === null ? backoffMs(this.#failures, askedMs, random()) : probeEveryMs;
    this.#nextAttemptAt = clock.now() + wait;
    return wait;
  }
}
