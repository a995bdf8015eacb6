import { inflatedSize, Thread } from '@agent-platform/otlp';
import { type Batch, Packing, type PartOfBatch, type Sorted, type StoredRequest } from './packing.ts';
import { SeenSpans } from './pieces.ts';

/** A job of the thread: to sort a batch, whose requests lie one behind the other, or to pack what it sorted. */
export type Job =
  | (Pick<Batch, 'skip' | 'attempt'> & {
      bytes: ArrayBuffer;
      requests: { length: number; gzip: boolean; spans: number }[];
    })
  | { parts: number[] };

export type Result = { sorted: Sorted } | { packed: PartOfBatch[] } | { error: string };

/** The spans of a batch, sorted by trace. */
export interface SortedBatch extends Sorted {
  /** Packs them. `parts`: the part of each trace. */
  pack(parts: number[]): Promise<PartOfBatch[]>;
  /** Marks the attempt as failed: what it saw is not stored. */
  markFailed(): void;
}

/** Bytes of spans that take a millisecond. More are packed on a thread. */
const inPlace = 64 * 1024;

/** Failed attempts that are remembered. What older ones saw has been pushed out. */
const mostFailed = 1_000;

const sizeOf = ({ bytes, gzip }: StoredRequest): number => (gzip ? inflatedSize(bytes) : bytes.length);

/**
 * Sorts and packs spans, one batch at a time. Large batches go to a thread: on the event loop a second of spans took 80 ms
 * of processor time, and what it left to the garbage collector stopped requests for up to 17 ms.
 */
export class Packer {
  readonly #seen = new SeenSpans();
  readonly #here = new Packing(this.#seen);
  readonly #thread = new Thread<Job, Result>(
    new URL('./packing-worker.ts', import.meta.url),
    this.#seen.memory,
  );
  #attempts = 0;
  readonly #failed = new Set<number>();

  /** Rejects if the bytes are no requests. */
  async sort(requests: readonly StoredRequest[], skip: number): Promise<SortedBatch> {
    const number = ++this.#attempts;
    const markFailed = (): void => {
      this.#failed.add(number);
      if (this.#failed.size > mostFailed) this.#failed.delete(this.#failed.values().next().value!);
    };
    const batch: Batch = { requests, skip, attempt: { number, failed: this.#failed } };
    const isSmall = requests.reduce((sum, request) => sum + sizeOf(request), 0) <= inPlace;
    try {
      if (isSmall) {
        return { ...this.#here.sort(batch), pack: async (parts) => this.#here.pack(parts), markFailed };
      }
      const sorted = await this.#sortOnThread(batch);
      return { ...sorted, pack: (parts) => this.#packOnThread(parts), markFailed };
    } catch (error) {
      markFailed();
      throw error;
    }
  }

  async #sortOnThread({ requests, skip, attempt }: Batch): Promise<Sorted> {
    const bytes = Buffer.allocUnsafeSlow(requests.reduce((sum, one) => sum + one.bytes.length, 0));
    let at = 0;
    for (const one of requests) at += one.bytes.copy(bytes, at);
    const lengths = requests.map(({ bytes: { length }, gzip, spans }) => ({ length, gzip, spans }));
    const result = await this.#run({ bytes: bytes.buffer, requests: lengths, skip, attempt }, [bytes.buffer]);
    if (!('sorted' in result)) throw new Error('the thread of traces returned something else');
    return result.sorted;
  }

  async #packOnThread(parts: number[]): Promise<PartOfBatch[]> {
    const result = await this.#run({ parts });
    if (!('packed' in result)) throw new Error('the thread of traces returned something else');
    for (const { blocks } of result.packed) {
      // A Buffer arrives as a Uint8Array.
      for (const block of blocks) {
        const { buffer, byteOffset, byteLength } = block.content;
        block.content = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
      }
    }
    return result.packed;
  }

  async #run(job: Job, moved: readonly ArrayBuffer[] = []): Promise<Result> {
    const result = await this.#thread.run(job, moved);
    if ('error' in result) throw new Error(result.error);
    return result;
  }
}
