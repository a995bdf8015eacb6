import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { inflatedSize, takeSpans } from '@agent-platform/otlp';
import type { Batch, NewDeadLetter } from '@agent-platform/otlp/log';
import type { Budget } from './budget.ts';
import type { Outcome } from './outcome.ts';

const inflate = promisify(gunzip);

/** The result of a request. A defect: it failed, and not because of the backend. Null: it was aborted. */
export type RequestResult = Outcome | { kind: 'defect'; error: unknown } | null;

const noBytes = Buffer.alloc(0);

/**
 * A batch on its way to a backend: how far its spans are settled (their response is final), and how far the cursor has
 * passed them. Spans are named by their ordinals. Normally the batch is one request; if something in it is refused, it
 * is bisected and sent in chunks. Its bytes are released as soon as they are not needed, and can be read again.
 */
export class InFlightBatch {
  readonly end: number;
  committed: number;
  settled: number;
  /** Number of rejected spans among those that are settled and not committed. */
  rejected = 0;
  /** Dead letters of those spans, in order; each lies right before `settled` or before spans that were accepted. */
  refused: Omit<NewDeadLetter, 'at'>[] = [];
  underWay = false;
  /** Result of the last request, until it is applied. `sentAfter`: the backend's `incidents` when it was sent. */
  result: { value: RequestResult; sentAfter: number } | null = null;
  #batch: Batch;
  #size: number;
  /** The ends of the chunks that are still to be sent, the next one last. */
  #ends: number[];
  /** All of it as one uncompressed request, while it is sent in chunks. */
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

  /** As the log knows it; with bytes only while it is `loaded`. */
  get batch(): Batch {
    return this.#batch;
  }

  get loaded(): boolean {
    return this.#batch.parts[0]!.bytes.length > 0;
  }

  get isSettled(): boolean {
    return this.#ends.length === 0;
  }

  /** True if the next request is the whole batch, which can be sent as it is in the log. */
  get isWhole(): boolean {
    return this.#ends.length === 1 && this.settled === this.#batch.start;
  }

  /** Number of spans that the next request has. */
  get spans(): number {
    return this.#ends.at(-1)! - this.settled;
  }

  /** Returns the number of bytes that the next request has, uncompressed. */
  async size(): Promise<number> {
    return this.isWhole ? this.#size : (await this.chunk()).length;
  }

  /** The next request, uncompressed. */
  async chunk(): Promise<Buffer> {
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

  /** The next request was a single span, and it was refused. */
  refuse(status: number, reason: string, span: Buffer): void {
    this.refused.push({ ordinal: this.settled, status, reason, span });
    this.settled = this.#ends.pop()!;
  }

  /** The next request has half as many spans. */
  bisect(): void {
    this.#ends.push(this.settled + Math.ceil(this.spans / 2));
  }

  /** The next request has one span. */
  probe(): void {
    if (this.spans > 1) this.#ends.push(this.settled + 1);
  }

  /** Sends again, from one request on, the spans that are not committed; a settled batch stays settled. */
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

  /** The cursor was moved to `ordinal`, not by a commit of this batch: what lies before it is dropped. */
  advanceTo(ordinal: number): void {
    this.committed = ordinal;
    this.settled = Math.max(this.settled, ordinal);
    this.#ends = this.#ends.filter((end) => end > this.settled);
    this.refused = this.refused.filter((one) => one.ordinal >= ordinal);
    this.rejected = Math.min(this.rejected, this.settled - ordinal - this.refused.length);
  }

  /** Drops the bytes. `stillHeld`: bytes of a request that is being sent, which still count. */
  release(stillHeld = 0): void {
    this.#plain = null;
    this.#hold(stillHeld);
    if (this.loaded) {
      const parts = this.#batch.parts.map((part) => ({ ...part, bytes: noBytes }));
      this.#batch = { ...this.#batch, parts };
    }
  }

  /**
   * Takes the bytes from `batch`, which was read again from the committed span on, and may be longer. Returns false if
   * it does not cover this batch.
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
    // To read it once more takes as many bytes as the first time: records that are passed in part count whole.
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
  if (first!.gzip) return inflatedSize(first!.bytes);
  return parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
};
