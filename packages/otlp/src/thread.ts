import { Worker, type WorkerOptions } from 'node:worker_threads';
import { Mutex } from './semaphore.ts';

/**
 * A thread that answers one question at a time, so that the event loop does not wait for what takes long. Its program
 * posts one message for each that it gets. The first question starts it; if it has ended, the next one starts it again.
 */
export class Thread<Question, Answer> {
  readonly #program: URL;
  readonly #options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>;
  readonly #mutex = new Mutex();
  #worker: Worker | null = null;

  constructor(program: URL, options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'> = {}) {
    this.#program = program;
    this.#options = options;
  }

  /**
   * Resolves to the answer; null if the thread ended before it came. `moved`: memory of the question that goes to the
   * thread without a copy, and cannot be used here afterwards.
   */
  ask(question: Question, moved: readonly ArrayBuffer[] = []): Promise<Answer | null> {
    return this.#mutex.run(() => this.#ask(question, moved));
  }

  #ask(question: Question, moved: readonly ArrayBuffer[]): Promise<Answer | null> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      const ended = (): void => {
        worker.off('message', done);
        this.#worker = null;
        resolve(null);
      };
      const done = (answer: Answer): void => {
        worker.off('exit', ended);
        resolve(answer);
      };
      worker.once('message', done).once('exit', ended);
      worker.postMessage(question, moved);
    });
  }

  #start(): Worker {
    // The options of the process (a profile, a heap size) are not for the thread.
    const worker = new Worker(this.#program, { ...this.#options, execArgv: [] });
    // It must not keep the process alive.
    worker.unref();
    // An exit follows. Without a listener the error would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
