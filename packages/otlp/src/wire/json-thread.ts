import { Thread } from '../thread.ts';
import { fromJson } from './json.ts';

/** Smaller bodies are converted on the caller's thread, in about a millisecond. */
const inPlace = 64 * 1024;

/** Next to this file: TypeScript here, JavaScript in what is published. */
const ownProgram = new URL(
  import.meta.url.endsWith('.ts') ? './json-worker.ts' : './json-worker.js',
  import.meta.url,
);

/** Converts OTLP/JSON to protobuf without blocking other requests: large bodies go to a thread of their own. */
export class JsonThread {
  readonly #thread: Thread<Uint8Array, Uint8Array<ArrayBuffer> | { error: string }>;

  constructor(program = ownProgram) {
    this.#thread = new Thread(program);
  }

  /** As `fromJson`; null if the thread ended before it was done. The body must not be used afterwards. */
  async convert(body: Buffer): Promise<Buffer | { error: string } | null> {
    if (body.length <= inPlace) return fromJson(body);
    // Moved without a copy if the memory is its own.
    const own = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
    const converted = await this.#thread.run(own, [own.buffer as ArrayBuffer]).catch(() => null);
    if (converted === null || 'error' in converted) return converted;
    return Buffer.from(converted.buffer, converted.byteOffset, converted.byteLength);
  }
}
