import { gzipSync } from 'node:zlib';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';

export const spansARequest = 500;
const clients = 3;
/** Every eighth request is gzip and large enough to be stored and forwarded as it arrived. */
const isLarge = (i: number): boolean => i % 8 === 7;

/** Clients that post spans of an agent as long as there is work, and keep the result of each request. */
export class Clients {
  readonly acknowledged: string[] = [];
  readonly unanswered: string[] = [];
  readonly refused: string[] = [];
  #next = 0;
  #url: string;
  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}/v1/traces`;
  }

  /** Posts until `aborted`; every request ends in one of the three lists. */
  async run(life: number, aborted: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#client(life, aborted)));
  }

  async #client(life: number, aborted: AbortSignal): Promise<void> {
    while (!aborted.aborted) {
      const i = this.#next++;
      const prefix = `g${life}.${i}`;
      const plain = spansNamed(prefix, spansARequest, 'agent', isLarge(i) ? 1_100 : 60);
      const body = isLarge(i) ? gzipSync(plain, { level: 1 }) : plain;
      try {
        const response = await fetch(this.#url, {
          method: 'POST',
          headers: {
            'content-type': 'application/x-protobuf',
            ...(isLarge(i) ? { 'content-encoding': 'gzip' } : {}),
          },
          body: new Uint8Array(body),
          signal: AbortSignal.timeout(10_000),
        });
        await response.arrayBuffer();
        if (response.status === 200) this.acknowledged.push(prefix);
        else this.refused.push(`${prefix} got ${response.status}`);
      } catch {
        // The process was killed: the request may be in the log or not.
        this.unanswered.push(prefix);
        return;
      }
    }
  }
}
