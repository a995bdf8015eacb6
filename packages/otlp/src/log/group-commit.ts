import { type Slice, TelemetryLogError } from './log.ts';

/** Slices that one call of `append` is to store. */
export interface Append {
  slices: readonly Slice[];
  /** Size of all bodies. */
  bytes: number;
}

interface Waiting extends Append {
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface GroupCommitOptions {
  /** Number of groups that may be in flight to the disk at a time. */
  concurrency: number;
  /** A group is no larger, unless it is a single append: the first in it must not wait for all others. */
  maxBytes: () => number;
  /** Reason why nothing can be stored now; null if it can. */
  refusal?: () => TelemetryLogError | null;
  /** Makes a group durable. Rejects with what each of its appends rejects with. */
  write: (group: readonly Append[]) => Promise<void>;
}

/** Group commit: what is appended while groups are in flight shares the next group, and its sync. */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #scheduled = false;
  #closed = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves when the slices are durable; slices that go nowhere are left out. */
  append(slices: readonly Slice[]): Promise<void> {
    const stored = slices.filter(({ routes, spans }) => routes.length > 0 && spans > 0);
    if (stored.length === 0) return Promise.resolve();
    if (this.#closed) return Promise.reject(new TelemetryLogError('closed', 'the telemetry log is closed'));
    const refusal = this.#options.refusal?.() ?? null;
    if (refusal !== null) return Promise.reject(refusal);
    let bytes = 0;
    for (const slice of stored) bytes += slice.bytes.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ slices: stored, bytes, resolve, reject });
      // Else the end of a group that is in flight starts the next one.
      if (this.#scheduled || this.#underWay.size >= this.#options.concurrency) return;
      this.#scheduled = true;
      // Calls in this tick of the event loop share the group.
      setImmediate(() => {
        this.#scheduled = false;
        this.#start();
      });
    });
  }

  /** Waits for what was appended; later appends reject. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#waiting.length > 0 || this.#underWay.size > 0) {
      this.#start();
      await Promise.all(this.#underWay);
    }
  }

  #start(): void {
    const { concurrency } = this.#options;
    while (this.#waiting.length > 0 && this.#underWay.size < concurrency) {
      const done = this.#write(this.#next()).then(() => {
        this.#underWay.delete(done);
        this.#start();
      });
      this.#underWay.add(done);
    }
  }

  #next(): Waiting[] {
    const most = this.#options.maxBytes();
    let bytes = this.#waiting[0]!.bytes;
    let count = 1;
    while (count < this.#waiting.length) {
      bytes += this.#waiting[count]!.bytes;
      if (bytes > most) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#options.write(group);
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
