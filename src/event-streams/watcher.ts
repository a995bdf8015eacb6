import type { Database, Executor } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';

/** Interval at which everything that is watched is checked, in milliseconds, in case a notification was lost. */
const lookEveryMs = 1_000;

export interface WatcherParts {
  db: Database;
  log: Logger;
  /** Name of the loop. */
  name: string;
  /** Is notified of changes, with `scope:seq` or without a payload; absent: changes are only looked for. */
  channel?: string;
  /** Interval of checks, in milliseconds; default 1 s. */
  everyMs?: number;
  /** The last number of each of the scopes that exists. */
  look(executor: Executor, scopes: string[]): Promise<Map<string, number>>;
}

/** One reader of what happens in a scope. */
export interface Watch {
  /**
   * Resolves when something happened since the call before, at the latest after `milliseconds` or when `signal` is
   * aborted.
   */
  changed(milliseconds: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Watched {
  /** The last number that is known; null before the first look. */
  seq: number | null;
  wakes: Set<() => void>;
}

/**
 * Wakes the readers of this replica when there is something to read. They hold no connection: one statement
 * looks at all that they watch from time to time, and notifications make them quick.
 */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #everyMs: number;
  readonly #scopes = new Map<string, Watched>();
  readonly #loop: Loop;
  readonly #notified = (payload: string | null): void => this.#onNotification(payload);

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#everyMs = parts.everyMs ?? lookEveryMs;
    this.#loop = new Loop({ name: parts.name, log: parts.log, tick: () => this.#look() });
  }

  /** Listens for notifications, before anyone watches. */
  listen(): void {
    if (this.#parts.channel) this.#parts.db.listen(this.#parts.channel, this.#notified);
  }

  start(): void {
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  watch(scope: string): Watch {
    let dirty = false;
    let resume: (() => void) | null = null;
    const wake = (): void => {
      dirty = true;
      resume?.();
    };
    const watched = this.#scopes.get(scope) ?? { seq: null, wakes: new Set() };
    watched.wakes.add(wake);
    this.#scopes.set(scope, watched);
    this.#loop.wakeWithin(this.#everyMs);
    return {
      changed: (milliseconds, signal) =>
        new Promise((resolve) => {
          if (dirty || signal.aborted || milliseconds <= 0) {
            dirty = false;
            resolve();
            return;
          }
          const end = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resume = null;
            dirty = false;
            resolve();
          };
          const timer = setTimeout(end, milliseconds);
          signal.addEventListener('abort', end, { once: true });
          resume = end;
        }),
      close: () => {
        watched.wakes.delete(wake);
        if (watched.wakes.size === 0 && this.#scopes.get(scope) === watched) this.#scopes.delete(scope);
      },
    };
  }

  /**
   * Reads until `isDone`, again after each change in the scope. Resolves to what was read last, at the latest after
   * `seconds` or when `signal` is aborted.
   */
  async readUntil<T>(
    scope: string,
    read: () => Promise<T>,
    isDone: (value: T) => boolean,
    { seconds, signal }: { seconds: number; signal: AbortSignal },
  ): Promise<T> {
    const until = performance.now() + seconds * 1_000;
    const watch = this.watch(scope);
    try {
      for (;;) {
        const value = await read();
        const left = until - performance.now();
        if (isDone(value) || left <= 0 || signal.aborted) return value;
        await watch.changed(left, signal);
      }
    } finally {
      watch.close();
    }
  }

  #onNotification(payload: string | null): void {
    if (this.#scopes.size === 0) return;
    const [scope = '', seq] = payload?.split(':') ?? [];
    if (!payload) this.#loop.wake();
    else this.#advance(scope, Number(seq));
  }

  #advance(scope: string, seq: number | null): void {
    const watched = this.#scopes.get(scope);
    if (!watched || watched.seq === seq) return;
    watched.seq = seq;
    for (const wake of watched.wakes) wake();
  }

  async #look(): Promise<number | null> {
    const scopes = [...this.#scopes.keys()];
    if (scopes.length === 0) return null;
    const seqs = await this.#parts.db.run((executor) => this.#parts.look(executor, scopes));
    // A removed scope has no number any more: its readers find that out.
    for (const scope of scopes) this.#advance(scope, seqs.get(scope) ?? -1);
    return this.#everyMs;
  }
}
