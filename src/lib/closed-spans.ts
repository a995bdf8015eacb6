/** A count of something in a span of time that begins at `at`, in milliseconds since 1970. */
interface Counted {
  at: number;
}

/** Spans that are older are forgotten. */
const keptMs = 8 * 86_400_000;

/**
 * Counts by spans of time, of which those that are over are counted once: only the present one and the one before it are
 * read again. What is counted again stays small, however much there is in a day.
 */
export class ClosedSpans<C extends Counted> {
  readonly #stepMs: number;
  readonly #closed = new Map<number, C[]>();
  /** The spans that begin in [#from, #until) are over and were counted. */
  #from = 0;
  #until = 0;

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  /**
   * Returns the counts of the spans that begin at `from` or later. `count` counts everything from a time on, which is the
   * beginning of a span.
   */
  async read(from: number, now: number, count: (from: number) => Promise<C[]>): Promise<C[]> {
    const first = Math.floor(from / this.#stepMs) * this.#stepMs;
    // An end in a transaction that takes a moment is counted too.
    const open = (Math.floor(now / this.#stepMs) - 1) * this.#stepMs;
    // Earlier spans than those that are known, a gap, or a clock that was set back: it begins again.
    const isKnown = this.#from <= first && first <= this.#until && this.#until <= open;
    const begin = isKnown ? this.#until : first;
    const counted = Map.groupBy(await count(begin), ({ at }) => at);
    if (!isKnown) {
      this.#closed.clear();
      this.#from = first;
    }
    for (const [at, counts] of counted) if (at < open) this.#closed.set(at, counts);
    this.#until = Math.max(begin, open);
    this.#from = Math.max(this.#from, open - keptMs);
    for (const at of this.#closed.keys()) if (at < this.#from) this.#closed.delete(at);
    const closed = [...this.#closed].flatMap(([at, counts]) => (at >= first ? counts : []));
    const present = [...counted].flatMap(([at, counts]) => (at >= open ? counts : []));
    return [...closed, ...present];
  }
}
