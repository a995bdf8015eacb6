import { Worker } from 'node:worker_threads';
import { messageOf } from './log/message-of.ts';
import { Mutex } from './semaphore.ts';

/**
 * A thread that does one job at a time, so that the event loop does not wait for what takes long. Its program posts one
 * message for each that it gets. The first job starts it; if it has ended, the next one starts it again.
 */
export class Thread<Job, Result> {
  readonly #program: URL;
  readonly #data: unknown;
  readonly #mutex = new Mutex();
  #worker: Worker | null = null;

  /** `data`: its `workerData`. */
  constructor(program: URL, data?: unknown) {
    this.#program = program;
    this.#data = data;
  }

  /**
   * Resolves to the result; rejects if the thread ended before it came. `moved`: memory of the job that goes to the thread
   * without a copy, and cannot be used here afterwards.
   */
  run(job: Job, moved: readonly ArrayBuffer[] = []): Promise<Result> {
    return this.#mutex.run(() => this.#run(job, moved));
  }

  #run(job: Job, moved: readonly ArrayBuffer[]): Promise<Result> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      let reason = 'it exited';
      const failed = (error: unknown): void => {
        reason = messageOf(error);
      };
      const ended = (): void => {
        worker.off('message', done).off('error', failed);
        this.#worker = null;
        reject(new Error(`a thread ended before it was done: ${reason}`));
      };
      const done = (result: Result): void => {
        worker.off('exit', ended).off('error', failed);
        resolve(result);
      };
      worker.once('message', done).once('error', failed).once('exit', ended);
      worker.postMessage(job, moved);
    });
  }

  #start(): Worker {
    // The options of the process, such as a profile, are not for the thread.
    const worker = new Worker(this.#program, { execArgv: [], workerData: this.#data });
    // It must not keep the process alive.
    worker.unref();
    // An exit follows. Without a listener the error would end the process.
    worker.on('error', () => {});
    worker.on('messageerror', () => void worker.terminate());
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
