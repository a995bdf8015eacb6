import { Worker } from 'node:worker_threads';
import { Semaphore } from '../../lib/semaphore.ts';
import { fromJson } from './json.ts';

/** Smaller bodies are converted where they are: about a millisecond. */
const inPlace = 64 * 1024;

/**
 * OTLP/JSON as protobuf without holding up everyone else: large bodies go to a thread of their own, one at a time,
 * which is started with the first of them, and anew with the next one where it has ended.
 */
export class JsonThread {
  readonly #program: URL;
  readonly #turns = new Semaphore(1);
  #worker: Worker | null = null;

  constructor(program = new URL('./json-worker.ts', import.meta.url)) {
    this.#program = program;
  }

  /** As `fromJson`; null where the thread ended before it answered. The body must not be used any more. */
  async convert(body: Buffer): Promise<Buffer | { error: string } | null> {
    return body.length <= inPlace ? fromJson(body) : this.#turns.run(() => this.#ask(body));
  }

  #ask(body: Buffer): Promise<Buffer | { error: string } | null> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Handed over without a copy where the bytes are its own.
    const own = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
    return new Promise((resolve) => {
      const ended = (): void => {
        worker.off('message', answered);
        this.#worker = null;
        resolve(null);
      };
      const answered = (converted: Uint8Array<ArrayBuffer> | { error: string }): void => {
        worker.off('exit', ended);
        if ('error' in converted) resolve(converted);
        else resolve(Buffer.from(converted.buffer, converted.byteOffset, converted.byteLength));
      };
      worker.once('message', answered).once('exit', ended);
      worker.postMessage(own, [own.buffer as ArrayBuffer]);
    });
  }

  #start(): Worker {
    // What the process was started with (a profile, a heap size) is not for it.
    const worker = new Worker(this.#program, { execArgv: [] });
    // It holds up no end of the process.
    worker.unref();
    // An exit follows; without a listener it would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
