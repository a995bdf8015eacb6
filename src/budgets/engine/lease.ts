import type { Database } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { Copy } from './copy.ts';
import { confirmReplica, deleteReplica, insertReplica, readBudgets } from './store.ts';

/**
 * The age at which the copy of the budgets must be confirmed before a call: two seconds, less what a creation may take. One
 * that takes longer postpones its budget (`postpone_budget`).
 */
const freshMs = 1_500;

interface LeaseParts {
  db: Database;
  leaseSeconds: () => number;
}

interface Renewed {
  /** True if replicas may be lost. */
  lost: boolean;
  wanted: ReadonlySet<string>;
  /** The number of shares that this replica has in the database. */
  shares: number;
}

/** What this replica knows of the budgets, and until when it may hold shares of them. */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #onLost: () => void;
  /** The id of this replica as a holder of shares; null while it holds none. One that was lost gets another. */
  id: string | null = null;
  copy = new Copy('', []);
  /** When the last confirmation began, by performance.now(). */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** The database's time, and performance.now() at that time. */
  #clock = { now: 0, at: 0 };
  #renewing: Promise<Renewed> | null = null;

  constructor(parts: LeaseParts, onLost: () => void) {
    this.#parts = parts;
    this.#onLost = onLost;
  }

  /** The time between two renewals, in milliseconds. */
  get everyMs(): number {
    return Math.min(1_000, this.#parts.leaseSeconds() * 250);
  }

  /** True if calls may reserve: the copy is confirmed, and no one closes the shares of this replica. */
  get isFresh(): boolean {
    return performance.now() - this.#confirmedAt <= Math.min(freshMs, this.#parts.leaseSeconds() * 500);
  }

  /** The database's time, in milliseconds since 1970. */
  now(): number {
    return Math.round(this.#clock.now + performance.now() - this.#clock.at);
  }

  /** Renews the lease and confirms the copy. Callers share a renewal that has begun. */
  renew(): Promise<Renewed> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** Others have closed the shares of this replica, or will. */
  lost(): void {
    this.id = null;
    this.#confirmedAt = Number.NEGATIVE_INFINITY;
    this.#onLost();
  }

  /** Ends the lease. The replica must have given back all its shares. */
  async end(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    this.id = null;
    await this.#parts.db.run((executor) => deleteReplica(executor, id));
  }

  async #renew(): Promise<Renewed> {
    const { db, leaseSeconds } = this.#parts;
    let began = performance.now();
    const { id } = this;
    const seen = await db.run((executor) => confirmReplica(executor, id, leaseSeconds()));
    this.#clock = { now: seen.now, at: (began + performance.now()) / 2 };
    if (id !== null && id === this.id && !seen.held) this.lost();
    if (seen.version !== this.copy.version) {
      began = performance.now();
      const { version, budgets } = await db.run(readBudgets);
      this.copy = new Copy(version, budgets);
    }
    if (this.id === null && this.copy.budgets.length > 0) {
      const made = newId();
      await db.run((executor) => insertReplica(executor, made));
      this.id = made;
    }
    this.#confirmedAt = began;
    return { lost: seen.lost, wanted: new Set(seen.wanted), shares: seen.shares };
  }
}
