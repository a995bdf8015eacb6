import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { NewDeadLetter } from '../log/dead-letter.ts';
import type { Batch } from '../log/log.ts';
import { takeSpans } from '../otlp/wire.ts';
import type { Budget } from './budget.ts';
import type { Outcome } from './outcome.ts';

const inflate = promisify(gunzip);

/** What a request came to; a defect where it is no failure of the backend's; null where the process stops. */
export type Answer = Outcome | { kind: 'defect'; error: unknown } | null;

const nothing = Buffer.alloc(0);

/**
 * A batch on its way: how far its spans are settled, that is, answered for good, and how far the cursor has passed
 * them. Spans are named by their ordinals. Normally it is one request; where something in it is refused it is sent
 * in pieces. Its bytes are let go as soon as they are not needed, and can be read again.
 */
export class Parcel {
  readonly end: number;
  committed: number;
  settled: number;
  /** Among those settled and not committed. */
  rejected = 0;
  /** Likewise, in order; they lie right before `settled` or before spans that were accepted. */
  refused: Omit<NewDeadLetter, 'at'>[] = [];
  underWay = false;
  /** Of the last request, until it is judged. */
  answer: { value: Answer; sentAfter: number } | null = null;
  #batch: Batch;
  #size: number;
  /** Where the pieces end that are still to be sent, the next one last. */
  #ends: number[];
  /** All of it as one request, while it is sent in pieces. */
  #plain: Buffer | null = null;
  readonly #budget: Budget;
  #held = 0;

  constructor(batch: Batch, budget: Budget) {
    this.#batch = batch;
    this.#budget = budget;
    this.committed = batch.start;
    this.settled = batch.start;
    this.end = batch.start + batch.spans;
    this.#ends = [this.end];
    this.#size = sizeOf(batch);
    this.#hold(batch.bytes);
  }

  /** What the log knows it by; with bytes only while it is `loaded`. */
  get batch(): Batch {
    return this.#batch;
  }

  get loaded(): boolean {
    return this.#batch.parts[0]!.bytes.length > 0;
  }

  get isSettled(): boolean {
    return this.#ends.length === 0;
  }

  /** What is to be sent next is all of it, so that it can be sent as it lies in the log. */
  get isWhole(): boolean {
    return this.#ends.length === 1 && this.settled === this.#batch.start;
  }

  /** How many spans are to be sent next. */
  get spans(): number {
    return this.#ends.at(-1)! - this.settled;
  }

  /** How many bytes that is, uncompressed. */
  async size(): Promise<number> {
    return this.isWhole ? this.#size : (await this.piece()).length;
  }

  /** What is to be sent next, as a request of its own. */
  async piece(): Promise<Buffer> {
    if (this.#plain === null) {
      const { parts } = this.#batch;
      this.#plain = parts[0]!.gzip
        ? await inflate(parts[0]!.bytes)
        : Buffer.concat(parts.map(({ bytes }) => bytes));
      this.#hold(this.#plain.length);
    }
    const { start, spans } = this.#batch;
    const [from, to] = [this.settled - start, this.#ends.at(-1)! - start];
    return to - from === spans ? this.#plain : takeSpans(this.#plain, from, to);
  }

  accept(rejected: number): void {
    this.settled = this.#ends.pop()!;
    this.rejected += rejected;
  }

  /** Of a single span. */
  refuse(status: number, reason: string, span: Buffer): void {
    this.refused.push({ ordinal: this.settled, status, reason, span });
    this.settled = this.#ends.pop()!;
  }

  halve(): void {
    this.#ends.push(this.settled + Math.ceil(this.spans / 2));
  }

  /** Only one span is sent next. */
  probe(): void {
    if (this.spans > 1) this.#ends.push(this.settled + 1);
  }

  /** What is not committed is sent again, from one request on; what is settled for good stays so. */
  restart(): void {
    if (this.isSettled) return;
    this.settled = this.committed;
    this.rejected = 0;
    this.refused = [];
    this.#ends = [this.end];
  }

  commit(): void {
    this.committed = this.settled;
    this.rejected = 0;
    this.refused = [];
  }

  /** The cursor was moved to `ordinal` by others: what lies before it is none of ours any more. */
  clip(ordinal: number): void {
    this.committed = ordinal;
    this.settled = Math.max(this.settled, ordinal);
    this.#ends = this.#ends.filter((end) => end > this.settled);
    this.refused = this.refused.filter((one) => one.ordinal >= ordinal);
    this.rejected = Math.min(this.rejected, this.settled - ordinal - this.refused.length);
  }

  /** Drops the bytes; what is being sent of them counts on. */
  letGo(stillHeld = 0): void {
    this.#plain = null;
    this.#hold(stillHeld);
    if (this.loaded) {
      const parts = this.#batch.parts.map((part) => ({ ...part, bytes: nothing }));
      this.#batch = { ...this.#batch, parts };
    }
  }

  /**
   * Takes in what was read again: from where it is committed, and maybe more than it was. False where that does not
   * hold all of it.
   */
  reload(batch: Batch | null): boolean {
    if (batch === null || batch.start !== this.committed) return false;
    let spans = 0;
    let bytes = 0;
    const parts: Batch['parts'][number][] = [];
    for (const part of batch.parts) {
      if (spans >= this.end - batch.start) break;
      parts.push(part);
      spans += part.spans;
      bytes += part.bytes.length;
    }
    if (batch.start + spans !== this.end) return false;
    // To read it once more takes what it took the first time: records that are passed in part count whole.
    this.#batch = { ...batch, parts, spans, bytes: this.#batch.bytes };
    this.#size = sizeOf(this.#batch);
    this.#hold(bytes);
    return true;
  }

  #hold(bytes: number): void {
    this.#budget.take(bytes - this.#held);
    this.#held = bytes;
  }
}

const sizeOf = ({ parts }: Batch): number => {
  const [first] = parts;
  // A member ends with the length of what it inflates to (RFC 1952, 2.3.1).
  if (first!.gzip) return first!.bytes.readUInt32LE(first!.bytes.length - 4);
  return parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
};
