import { Worker } from 'node:worker_threads';
import { Turns } from '../lib/turns.ts';
import { fromJson } from './json.ts';

/** Smaller bodies are converted where they are: about a millisecond. */
const inPlace = 64 * 1024;

/**
 * What parsing one body may take: objects weigh more than their text, `{}` 20 times as much. Traces of 20 MiB, the
 * most that is accepted, need about a third of it.
 */
const heapMegabytes = 384;

/** No answer: the body does not fit into memory as JSON, or the thread ended for another reason. */
type Lost = 'too complex' | 'lost';

/**
 * OTLP/JSON as protobuf without holding up everyone else: large bodies go to a thread of their own, one at a time,
 * which is started with the first of them. A body that ends the thread by its size ends nothing but itself.
 */
export class JsonThread {
  readonly #turns = new Turns(1);
  #worker: Worker | null = null;

  /** As `fromJson`; never rejects. The body must not be used any more. */
  async convert(body: Buffer): Promise<Buffer | { error: string } | Lost> {
    return body.length <= inPlace ? fromJson(body) : this.#turns.run(() => this.#ask(body));
  }

  #ask(body: Buffer): Promise<Buffer | { error: string } | Lost> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Handed over without a copy where the bytes are its own.
    const whole = body.byteLength === body.buffer.byteLength;
    const own = whole ? body : new Uint8Array(body);
    return new Promise((resolve) => {
      const answered = (converted: Uint8Array<ArrayBuffer> | { error: string }): void => {
        worker.off('error', failed).off('exit', ended);
        if ('error' in converted) resolve(converted);
        else resolve(Buffer.from(converted.buffer, converted.byteOffset, converted.byteLength));
      };
      const lost = (how: Lost): void => {
        worker.off('message', answered).off('error', failed).off('exit', ended);
        if (this.#worker === worker) this.#worker = null;
        resolve(how);
      };
      const failed = (error: { code?: string }): void =>
        lost(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too complex' : 'lost');
      const ended = (): void => lost('lost');
      worker.once('message', answered).once('error', failed).once('exit', ended);
      worker.postMessage(own, [own.buffer as ArrayBuffer]);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./json-worker.ts', import.meta.url), {
      // Options of the process (a profile, a heap size) are not its own.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    // It holds up no end of the process.
    worker.unref();
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
