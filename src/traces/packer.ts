import { inflatedSize, Thread } from '@agent-platform/otlp';
import { type Batch, Packing, type PartOfBatch, type Sorted, type StoredRequest } from './packing.ts';
import { SeenSpans } from './pieces.ts';

/** What the thread is asked: to sort a batch, whose requests lie one behind the other, or to pack what it sorted. */
export type Question =
  | (Pick<Batch, 'skip' | 'attempt'> & {
      bytes: ArrayBuffer;
      requests: { length: number; gzip: boolean; spans: number }[];
    })
  | { parts: number[] };

export type Answer = { sorted: Sorted } | { packed: PartOfBatch[] } | { error: string };

/** The spans of a batch, sorted by trace. */
export interface SortedBatch extends Sorted {
  /** Packs them. `parts`: the part of each trace. */
  pack(parts: number[]): Promise<PartOfBatch[]>;
  /** They are not stored. */
  failed(): void;
}

/** Bytes of spans that take a millisecond. More are packed on a thread. */
const inPlace = 64 * 1024;

const sizeOf = ({ bytes, gzip }: StoredRequest): number => (gzip ? inflatedSize(bytes) : bytes.length);

/**
 * Sorts and packs spans, one batch at a time. Large batches go to a thread: on the event loop a second of spans took 80 ms
 * of processor time, and what it left to the garbage collector stopped requests for up to 17 ms.
 */
export class Packer {
  readonly #seen = new SeenSpans();
  readonly #here = new Packing(this.#seen);
  readonly #thread = new Thread<Question, Answer>(
    new URL('./packing-worker.ts', import.meta.url),
    // New objects of a batch are garbage when it is packed: more room for them would be memory that stays.
    {
      workerData: this.#seen.memory,
      resourceLimits: { maxYoungGenerationSizeMb: 6 },
    },
  );
  #attempts = 0;
  readonly #failed = new Set<number>();

  /** Rejects if the bytes are no requests. */
  async sort(requests: readonly StoredRequest[], skip: number): Promise<SortedBatch> {
    const number = ++this.#attempts;
    const failed = (): void => {
      this.#failed.add(number);
    };
    const batch: Batch = { requests, skip, attempt: { number, failed: this.#failed } };
    const isSmall = requests.reduce((sum, request) => sum + sizeOf(request), 0) <= inPlace;
    try {
      if (isSmall) {
        return { ...this.#here.sort(batch), pack: async (parts) => this.#here.pack(parts), failed };
      }
      const sorted = await this.#sortOnThread(batch);
      return { ...sorted, pack: (parts) => this.#packOnThread(parts), failed };
    } catch (error) {
      failed();
      throw error;
    }
  }

  async #sortOnThread({ requests, skip, attempt }: Batch): Promise<Sorted> {
    const bytes = Buffer.allocUnsafeSlow(requests.reduce((sum, one) => sum + one.bytes.length, 0));
    let at = 0;
    for (const one of requests) at += one.bytes.copy(bytes, at);
    const lengths = requests.map(({ bytes: { length }, gzip, spans }) => ({ length, gzip, spans }));
    const answer = await this.#ask({ bytes: bytes.buffer, requests: lengths, skip, attempt }, [bytes.buffer]);
    if (!('sorted' in answer)) throw new Error('the thread of traces answered something else');
    return answer.sorted;
  }

  async #packOnThread(parts: number[]): Promise<PartOfBatch[]> {
    const answer = await this.#ask({ parts });
    if (!('packed' in answer)) throw new Error('the thread of traces answered something else');
    for (const { blocks } of answer.packed) {
      // A Buffer arrives as a Uint8Array.
      for (const block of blocks) {
        const { buffer, byteOffset, byteLength } = block.content;
        block.content = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
      }
    }
    return answer.packed;
  }

  async #ask(question: Question, moved: readonly ArrayBuffer[] = []): Promise<Answer> {
    const answer = await this.#thread.ask(question, moved);
    if (answer === null) throw new Error('the thread of traces ended');
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }
}
