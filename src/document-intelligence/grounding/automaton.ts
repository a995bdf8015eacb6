import { Tokeniser } from './tokens.ts';

/** At most this many places are kept for a value. */
export const maxPlaces = 5;

/** The position of a match in the text that was searched. */
export interface Span {
  start: number;
  end: number;
}

const root = 0;

/** A text that is searched, and the first places where it was found. */
interface Pattern {
  tokens: number;
  spans: Span[];
}

/**
 * Searches a text for many values at once (Aho and Corasick, 1975), by tokens instead of characters. Every state
 * reached is a whole value, and a value that was found `maxPlaces` times is skipped from then on, so the work is linear
 * in the text and the values, whatever they are: `a a a …` with the values `a`, `a a`, `a a a` … too.
 */
export class Automaton {
  readonly #tokens = new Map<string, number>();
  /** From state and token to state. */
  readonly #next = new Map<number, number>();
  readonly #fallback: number[] = [root];
  /** The nearest state with a pattern, on the way of fallbacks, the state itself included; `root` if there is none. */
  readonly #output: number[] = [root];
  readonly #patterns = new Map<number, Pattern>();
  readonly #byText = new Map<string, Pattern>();
  #states = 1;
  readonly #edges: { from: number; token: number; to: number }[] = [];

  /** Adds a value. Its places are filled in by `search`. */
  add(text: string): Span[] {
    const known = this.#byText.get(text);
    if (known) return known.spans;
    const tokeniser = new Tokeniser(text);
    let state = root;
    let tokens = 0;
    while (tokeniser.next()) {
      const key = tokeniser.key();
      const token = this.#tokens.get(key) ?? this.#tokens.size;
      this.#tokens.set(key, token);
      let to = this.#next.get(edge(state, token));
      if (to === undefined) {
        to = this.#states++;
        this.#next.set(edge(state, token), to);
        this.#edges.push({ from: state, token, to });
      }
      state = to;
      tokens++;
    }
    const pattern = { tokens, spans: [] };
    this.#byText.set(text, pattern);
    if (tokens > 0) this.#patterns.set(state, pattern);
    return pattern.spans;
  }

  get isEmpty(): boolean {
    return this.#patterns.size === 0;
  }

  /** Call it once, after the last `add` and before the first `search`. */
  build(): void {
    // A state comes after those that are nearer to the root: breadth first.
    const depth = [0];
    for (const { from, to } of this.#edges) depth[to] = depth[from]! + 1;
    this.#edges.sort((a, b) => depth[a.to]! - depth[b.to]!);
    for (const { from, token, to } of this.#edges) {
      this.#fallback[to] = from === root ? root : this.#step(this.#fallback[from]!, token);
      this.#output[to] = this.#patterns.has(to) ? to : this.#output[this.#fallback[to]!]!;
    }
  }

  /** Searches the text that `tokeniser` cuts. `pause` is awaited every `stride` tokens. */
  async search(tokeniser: Tokeniser, stride: number, pause: () => Promise<void>): Promise<void> {
    const starts: number[] = [];
    let state = root;
    // The patterns that end with a character that is no run: they count if no run follows it.
    let open = root;
    for (let count = 0; tokeniser.next(); count++) {
      if (count % stride === stride - 1) await pause();
      if (open !== root && !tokeniser.isWord) this.#report(open, starts, tokeniser.start);
      starts.push(tokeniser.start);
      const token = this.#tokens.get(tokeniser.key());
      state = token === undefined ? root : this.#step(state, token);
      open = root;
      if (this.#output[state] === root) continue;
      if (tokeniser.isWord) this.#report(state, starts, tokeniser.end);
      else open = state;
    }
    if (open !== root) this.#report(open, starts, tokeniser.end);
  }

  #step(from: number, token: number): number {
    let state = from;
    for (;;) {
      const to = this.#next.get(edge(state, token));
      if (to !== undefined) return to;
      if (state === root) return root;
      state = this.#fallback[state]!;
    }
  }

  #report(from: number, starts: readonly number[], end: number): void {
    for (let state = this.#live(from); state !== root; state = this.#live(this.#fallback[state]!)) {
      const { spans, tokens } = this.#patterns.get(state)!;
      spans.push({ start: starts[starts.length - tokens]!, end });
    }
  }

  /** The nearest state with a pattern that is still searched. What is passed over is shortened (union-find). */
  #live(from: number): number {
    let state = this.#output[from]!;
    while (state !== root && this.#patterns.get(state)!.spans.length >= maxPlaces) {
      state = this.#output[this.#fallback[state]!]!;
    }
    let passed = from;
    while (passed !== state && this.#output[passed] !== state) {
      const next = this.#output[passed]!;
      this.#output[passed] = state;
      passed = next === passed ? this.#fallback[passed]! : next;
    }
    return state;
  }
}

const edge = (state: number, token: number): number => state * 0x100_0000 + token;
