import { unavailable } from './errors.ts';

/** A piece of work that runs. */
interface Piece {
  /** When it began. */
  at: number;
}

interface Waiting {
  /** Null: the queue has stopped. */
  start: (piece: Piece | null) => void;
}

/** One person or service account that has work here. */
interface Root {
  /** The time that its ended work took, in milliseconds, compared with that of the others. */
  served: number;
  running: Set<Piece>;
  waiting: Waiting[];
}

export interface TakeOptions {
  /** After how many milliseconds without a place the wait ends with a 503; null waits as long as it takes. */
  waitMs: number | null;
  signal?: AbortSignal | undefined;
}

/**
 * Lets as many run at once as there are places, and divides them fairly: a free place goes to the one whose work took the
 * least time so far, whoever came first. One alone gets at most half of the places, because work is not interrupted: the
 * storm of one would otherwise hold every place for as long as its pieces last, and others would wait for them.
 */
export class FairQueue {
  readonly #places: () => number;
  readonly #busy: string;
  readonly #now: () => number;
  readonly #roots = new Map<string, Root>();
  #taken = 0;
  /** The served time of the last one who got a place: one who comes again starts from there, and has no credit. */
  #level = 0;
  #stopped = false;

  /** `busy`: the message of the 503. */
  constructor(places: () => number, busy: string, now: () => number = () => performance.now()) {
    this.#places = places;
    this.#busy = busy;
    this.#now = now;
  }

  /** The number of those that run. */
  get taken(): number {
    return this.#taken;
  }

  /** Runs `fn` when there is a place for `root`. Throws 503 if there is none in time, and the reason of the signal. */
  async run<T>(root: string, options: TakeOptions, fn: () => Promise<T>): Promise<T> {
    const release = await this.take(root, options);
    try {
      return await fn();
    } finally {
      release();
    }
  }

  /** Waits for a place for `root`. Resolves to what gives it back. Throws as `run`. */
  async take(root: string, { waitMs, signal }: TakeOptions): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#stopped) throw unavailable('The platform is stopping.');
    const account = this.#accountOf(root);
    const tooLate = waitMs === null ? null : AbortSignal.timeout(waitMs);
    const piece = await new Promise<Piece | null>((resolve, reject) => {
      const end = (settle: () => void) => {
        for (const by of [tooLate, signal]) by?.removeEventListener('abort', giveUp);
        settle();
      };
      const one: Waiting = { start: (started) => end(() => resolve(started)) };
      const giveUp = () => {
        const index = account.waiting.indexOf(one);
        if (index !== -1) account.waiting.splice(index, 1);
        this.#forgetIfIdle(root, account);
        end(() => reject(signal?.aborted ? signal.reason : unavailable(this.#busy, 5)));
      };
      for (const by of [tooLate, signal]) by?.addEventListener('abort', giveUp);
      account.waiting.push(one);
      this.#grant();
    });
    if (piece === null) throw unavailable('The platform is stopping.');
    return () => {
      if (!account.running.delete(piece)) return;
      account.served += this.#now() - piece.at;
      this.#taken--;
      this.#forgetIfIdle(root, account);
      this.#grant();
    };
  }

  /** Ends all waits with a 503. */
  stop(): void {
    this.#stopped = true;
    for (const { waiting } of this.#roots.values()) for (const { start } of waiting.splice(0)) start(null);
  }

  #accountOf(name: string): Root {
    let account = this.#roots.get(name);
    if (!account) {
      account = { served: this.#level, running: new Set(), waiting: [] };
      this.#roots.set(name, account);
    }
    return account;
  }

  #forgetIfIdle(name: string, { running, waiting }: Root): void {
    if (running.size + waiting.length === 0) this.#roots.delete(name);
  }

  #grant(): void {
    while (this.#taken < this.#places()) {
      const next = this.#next();
      if (!next) return;
      this.#level = Math.max(this.#level, this.#servedOf(next));
      const piece = { at: this.#now() };
      next.running.add(piece);
      this.#taken++;
      next.waiting.shift()!.start(piece);
    }
  }

  /** Who gets the next place: of those who wait and may have one more, the one who was served least. */
  #next(): Root | undefined {
    const most = Math.max(1, Math.floor(this.#places() / 2));
    let next: Root | undefined;
    for (const root of this.#roots.values()) {
      if (root.waiting.length === 0 || root.running.size >= most) continue;
      if (!next || this.#servedOf(root) < this.#servedOf(next)) next = root;
    }
    return next;
  }

  #servedOf({ served, running }: Root): number {
    let total = served;
    for (const { at } of running) total += this.#now() - at;
    return total;
  }
}
