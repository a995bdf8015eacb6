import { type Behaviour, type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp-receiver.ts';

/** How often each span `PREFIX-i` came. Small enough for millions: a byte a span. */
export class Tally {
  readonly #times = new Map<string, Uint8Array>();
  /** All that came, and how many of them are different. */
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
  /** Of what it kept: of the requests that it decided to answer with 2xx. */
  kept: Tally;
  /** The spans of each request that it kept, in order. */
  sizes: number[];
  /** Spans of which it kept one that came earlier than the one before, by `orderOf`. */
  outOfOrder: number;
}

/**
 * A strict backend that counts what it is sent and keeps no bytes of it. `decide` says what it answers to a request
 * of these names; left out: 200. `orderOf` a name: a number that must never fall.
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
    // Millions of spans come: what is counted is let go.
    request.body = request.payload = Buffer.alloc(0);
    request.spans = [];
    return behaviour;
  });
  return backend;
};
