import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { addCounts, type NewCount } from './deliveries/store.ts';

/** Why a request to a webhook was refused. */
export const refusalReasons = ['missing', 'wrong', 'stale', 'unsigned', 'too_large', 'batch'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** The time between two writes of what was refused. */
const everyMs = 2_000;
/** Counts in memory: triggers by reasons. Beyond it the counts are written at once. */
const mostCounts = 10_000;

/**
 * Counts refused requests of triggers. They cost no transaction each, so that whoever sends wrong signatures costs
 * little: a replica that is lost loses the counts of two seconds.
 */
export class Refusals {
  readonly #db: Database;
  readonly #replicaId: string;
  readonly #loop: Loop;
  #counts = new Map<string, NewCount>();

  constructor(db: Database, log: Logger, replicaId: string) {
    this.#db = db;
    this.#replicaId = replicaId;
    this.#loop = new Loop({
      name: 'refused events',
      log,
      tick: async () => {
        const some = this.#counts.size > 0;
        await this.flush();
        return some ? everyMs : null;
      },
    });
  }

  count(triggerId: string, reason: RefusalReason): void {
    const key = `${triggerId} ${reason}`;
    const count = this.#counts.get(key);
    if (count) count.count++;
    else this.#counts.set(key, { trigger_id: triggerId, outcome: 'refused', reason, count: 1 });
    if (this.#counts.size > mostCounts) this.#loop.wake();
    else this.#loop.wakeWithin(everyMs);
  }

  /** Writes the counts. What could not be written is written the next time. */
  async flush(): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    try {
      await this.#db.run((executor) => addCounts(executor, [...counts.values()], this.#replicaId));
    } catch (error) {
      for (const { trigger_id, outcome, reason, count } of counts.values()) {
        const key = `${trigger_id} ${reason}`;
        const since = this.#counts.get(key)?.count ?? 0;
        this.#counts.set(key, { trigger_id, outcome, reason, count: count + since });
      }
      throw error;
    }
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    // Without the database the counts of the last seconds are lost.
    await this.flush().catch(() => {});
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }
}
