import { type Behaviour, type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp-receiver.ts';

/** How often each span `PREFIX-i` arrived. Small enough for millions: a byte for each span. */
export class Tally {
  readonly #times = new Map<string, Uint8Array>();
  /** How many arrived, and how many of them are different. */
  spans = 0;
  unique = 0;

  add(name: string): void {
    const at = name.lastIndexOf('-');
    const prefix = name.slice(0, at);
    const index = Number(name.slice(at + 1));
    let times = this.#times.get(prefix);
    if (times === undefined || index >= times.length) {
      const longer = new Uint8Array(Math.max(500, index + 1));
      longer.set(times ?? []);
      times = longer;
      this.#times.set(prefix, times);
    }
    this.spans++;
    if (times[index]!++ === 0) this.unique++;
  }

  has(name: string): boolean {
    const at = name.lastIndexOf('-');
    return (this.#times.get(name.slice(0, at))?.[Number(name.slice(at + 1))] ?? 0) > 0;
  }
}

export interface CountingBackend extends AsyncDisposable {
  url: string;
  receiver: OtlpReceiver;
  /** The spans that it kept: those of requests with 2xx. */
  kept: Tally;
  /** The spans of each request that it kept, in order. */
  sizes: number[];
  /** Spans that it kept after a later one, by `orderOf`. */
  outOfOrder: number;
}

/**
 * A strict backend that counts what it receives and keeps none of its bytes. `decide` returns the status for a request
 * with these names; default 200. `orderOf` returns a number for a name that must never fall.
 */
export const startCountingBackend = async (
  decide: (names: string[], bytes: number, index: number) => number | Behaviour = () => 200,
  orderOf?: (name: string) => number,
): Promise<CountingBackend> => {
  const receiver = await startOtlpReceiver();
  const backend: CountingBackend = {
    url: receiver.url,
    receiver,
    kept: new Tally(),
    sizes: [],
    outOfOrder: 0,
    [Symbol.asyncDispose]: () => receiver.close(),
  };
  let last = Number.NEGATIVE_INFINITY;
  receiver.respondWith((request, index) => {
    const names = request.spans.map(({ name }) => name);
    const behaviour = decide(names, request.payload.length, index);
    const status = typeof behaviour === 'number' ? behaviour : (behaviour.status ?? 200);
    if (status < 300 && !(typeof behaviour === 'object' && (behaviour.hang || behaviour.drop))) {
      for (const name of names) {
        backend.kept.add(name);
        if (orderOf === undefined) continue;
        const order = orderOf(name);
        if (order < last) backend.outOfOrder++;
        last = order;
      }
      backend.sizes.push(names.length);
    }
    // Millions of spans arrive: what is counted is released.
    request.body = request.payload = Buffer.alloc(0);
    request.spans = [];
    return behaviour;
  });
  return backend;
};
