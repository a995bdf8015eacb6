import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from './errors.ts';

interface BatchOptions<In, Out> {
  /** The most calls of one batch. */
  most: number;
  /** The number of batches that run at a time. */
  atOnce: number;
  /**
   * Carries out these calls together. Resolves to their results, in their order; undefined for a call that must be
   * carried out alone, because the others would have to wait for it. If it rejects, each is carried out alone, so that
   * the fault of one call is not the fault of all. `alone`: there is one call, which gets its result.
   */
  run: (inputs: readonly In[], alone: boolean) => Promise<readonly (Out | undefined)[]>;
}

interface Waiting<In, Out> {
  input: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

/** Returns whether each call alone would fail in the same way, and no one knows what was committed. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'service_unavailable';

/** Calls that are made while others are in progress are carried out together: the higher the load, the more at once. */
export class Batch<In, Out> {
  readonly #options: BatchOptions<In, Out>;
  /** A batch belongs to no caller: not to its transaction, and not to its span. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting: Waiting<In, Out>[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(options: BatchOptions<In, Out>) {
    this.#options = options;
  }

  add(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (this.#scheduled || this.#underWay >= this.#options.atOnce) return;
      this.#scheduled = true;
      // Calls that are added in this tick of the event loop share the batch.
      this.#outside(() =>
        setImmediate(() => {
          this.#scheduled = false;
          this.#start();
        }),
      );
    });
  }

  #start(): void {
    const { most, atOnce } = this.#options;
    while (this.#waiting.length > 0 && this.#underWay < atOnce) {
      this.#underWay++;
      void this.#carryOut(this.#waiting.splice(0, most)).finally(() => {
        this.#underWay--;
        this.#start();
      });
    }
  }

  async #carryOut(calls: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await this.#options.run(
        calls.map(({ input }) => input),
        false,
      );
      calls.forEach((call, i) => {
        const result = results[i];
        if (result === undefined) void this.#carryOutAlone(call);
        else call.resolve(result);
      });
    } catch (error) {
      const together = calls.length > 1 && !isUnavailable(error);
      for (const call of calls) together ? void this.#carryOutAlone(call) : call.reject(error);
    }
  }

  /** Not one of those that run at a time: it may have to wait, and nothing waits for it. */
  async #carryOutAlone({ input, resolve, reject }: Waiting<In, Out>): Promise<void> {
    try {
      resolve((await this.#options.run([input], true))[0]!);
    } catch (error) {
      reject(error);
    }
  }
}
