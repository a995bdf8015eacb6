import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { findOpenWorkItems, workItemsChannel } from '../work-items/index.ts';

/** The longest time between two looks while someone waits, because not every change is notified. */
const lookEveryMs = 1_000;

/**
 * The callers of this replica that wait for the end of a Work Item. They hold no connection: one loop, woken by the
 * notification on Work Items, looks for all of them in one statement.
 */
export class WorkItemWaits {
  readonly #db: Database;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #loop: Loop;
  readonly #wake = () => {
    if (this.#waiting.size > 0) this.#loop.wake();
  };

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#loop = new Loop({ name: 'tool protocol', log, tick: () => this.#tick() });
  }

  /** Listens for notifications, before any caller waits. */
  listen(): void {
    this.#db.listen(workItemsChannel, this.#wake);
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

  /** Resolves when the Work Item is neither PENDING nor EXECUTING, after the time, and when `signal` is aborted. */
  wait(id: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const ends = this.#waiting.get(id) ?? new Set();
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        ends.delete(end);
        if (ends.size === 0 && this.#waiting.get(id) === ends) this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end, { once: true });
      this.#waiting.set(id, ends.add(end));
      // It may have ended since the caller looked.
      this.#loop.wake();
    });
  }

  async #tick(): Promise<number | null> {
    const ids = [...this.#waiting.keys()];
    if (ids.length === 0) return null;
    const open = new Set(await this.#db.run((executor) => findOpenWorkItems(executor, ids)));
    for (const id of ids) {
      if (open.has(id)) continue;
      for (const end of [...(this.#waiting.get(id) ?? [])]) end();
    }
    return this.#waiting.size === 0 ? null : lookEveryMs;
  }
}
