import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { type WorkItem, workItemCalls, workItemRuns, workItemsChannel } from '../work-items/index.ts';

interface Waiting<T> {
  agentIds: readonly string[];
  /** Claims for this caller. */
  attempt: () => Promise<T[]>;
  /** Aborted when the caller leaves. */
  signal: AbortSignal;
  milliseconds: number;
}

interface Waiter {
  agentIds: readonly string[];
  /** Claims for the caller. Resolves to whether there was nothing to claim; it is not known if the caller left. */
  serve(): Promise<'nothing' | 'something' | 'left'>;
  end(): void;
}

/**
 * The callers of this replica that wait for something to claim. They hold no connection: one loop, woken by the
 * notification on Work Items, looks for all of them in one statement and then claims for those who waited longest.
 */
export class WaitingRoom {
  readonly #db: Database;
  readonly #waiters = new Set<Waiter>();
  readonly #loop: Loop;
  readonly #wake = () => this.#loop.wake();
  #stopped = false;

  readonly #onFinished: (status: WorkItem['status']) => void;

  /** `onFinished` is called for each run that ends because its worker was lost. */
  constructor(db: Database, log: Logger, onFinished: (status: WorkItem['status']) => void) {
    this.#db = db;
    this.#onFinished = onFinished;
    this.#loop = new Loop({ name: 'external workers', log, tick: () => this.#tick() });
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

  /** No one gets anything any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const waiter of this.#waiters) waiter.end();
    await this.#loop.stop();
  }

  /** Resolves to what `attempt` claimed; to nothing after the time, when the caller leaves, and at a stop. */
  wait<T>({ agentIds, attempt, signal, milliseconds }: Waiting<T>): Promise<T[]> {
    return new Promise((resolve, reject) => {
      let serving = false;
      let ended = false;
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', waiter.end);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        agentIds,
        serve: async () => {
          if (ended) return 'left';
          serving = true;
          try {
            const got = await attempt();
            if (got.length === 0 && !ended) return 'nothing';
            leave();
            resolve(got);
            return got.length > 0 ? 'something' : 'left';
          } catch (error) {
            leave();
            reject(error);
            return 'left';
          } finally {
            serving = false;
          }
        },
        // Work Items that are being claimed for the caller are still handed over.
        end: () => {
          ended = true;
          if (serving) return;
          leave();
          resolve([]);
        },
      };
      const timer = setTimeout(waiter.end, milliseconds);
      signal.addEventListener('abort', waiter.end, { once: true });
      this.#waiters.add(waiter);
      if (this.#stopped || signal.aborted) waiter.end();
      // Something may have come since the caller looked.
      else this.#loop.wake();
    });
  }

  async #tick(): Promise<number | null> {
    if (this.#waiters.size === 0) return null;
    const wanted = new Set([...this.#waiters].flatMap(({ agentIds }) => agentIds));
    const claimable = new Set(
      await this.#db.run((executor) => workItemCalls.findClaimableAgents(executor, [...wanted])),
    );
    for (const waiter of [...this.#waiters]) {
      if (claimable.size === 0) break;
      if (!waiter.agentIds.some((id) => claimable.has(id))) continue;
      // Others were quicker, so there is nothing for those behind it either.
      if ((await waiter.serve()) === 'nothing') for (const id of waiter.agentIds) claimable.delete(id);
    }
    if (this.#waiters.size === 0) return null;
    const ahead = await this.#db.run(workItemRuns.lookForWork);
    // A replica without workers may be the only one that is awake.
    const recovered = await workItemRuns.recoverExpired(this.#db, ahead);
    for (const { status } of recovered) this.#onFinished(status);
    return workItemRuns.sleepAfter(ahead);
  }
}
