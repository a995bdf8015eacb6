import { Worker } from 'node:worker_threads';
import { Mutex } from '../semaphore.ts';
import { fromJson } from './json.ts';

/** Smaller bodies are converted on the caller's thread, in about a millisecond. */
const inPlace = 64 * 1024;

/** Next to this file: TypeScript here, JavaScript in what is published. */
const ownProgram = new URL(
  import.meta.url.endsWith('.ts') ? './json-worker.ts' : './json-worker.js',
  import.meta.url,
);

/**
 * Converts OTLP/JSON to protobuf without blocking other requests: large bodies go to a thread of their own, one at a
 * time. The first of them starts the thread; if it has ended, the next one starts it again.
 */
export class JsonThread {
  readonly #program: URL;
  readonly #mutex = new Mutex();
  #worker: Worker | null = null;

  constructor(program = ownProgram) {
    this.#program = program;
  }

  /** As `fromJson`; null if the thread ended before it was done. The body must not be used afterwards. */
  async convert(body: Buffer): Promise<Buffer | { error: string } | null> {
    return body.length <= inPlace ? fromJson(body) : this.#mutex.run(() => this.#send(body));
  }

  #send(body: Buffer): Promise<Buffer | { error: string } | null> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Transferred without a copy if the memory is its own.
    const own = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
    return new Promise((resolve) => {
      const ended = (): void => {
        worker.off('message', done);
        this.#worker = null;
        resolve(null);
      };
      const done = (converted: Uint8Array<ArrayBuffer> | { error: string }): void => {
        worker.off('exit', ended);
        if ('error' in converted) resolve(converted);
        else resolve(Buffer.from(converted.buffer, converted.byteOffset, converted.byteLength));
      };
      worker.once('message', done).once('exit', ended);
      worker.postMessage(own, [own.buffer as ArrayBuffer]);
    });
  }

  #start(): Worker {
    // The options of the process (a profile, a heap size) are not for the thread.
    const worker = new Worker(this.#program, { execArgv: [] });
    // The worker must not keep the process alive.
    worker.unref();
    // An exit follows. Without a listener the error would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
