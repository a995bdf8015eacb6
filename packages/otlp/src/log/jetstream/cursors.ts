import { Mutex } from '../../semaphore.ts';
import type { Cursor, StreamStore } from './store.ts';

/** An integration whose owner has not renewed its lease for this long is taken over. */
const leaseSeconds = 12;
const renewEveryMs = 4_000;
const heartbeatEveryMs = 1_000;
const takeMoreMs = 100;
/** Margin before the end of its lease at which an owner stops delivering, by its own clock. */
const leaseMarginMs = 1_000;

/**
 * The cursors as this replica knows them, and which of them it owns. The rows are the truth: those of other owners are
 * known to about a second, and only the owner's fencing token moves a cursor.
 */
export class Cursors {
  /** True if this replica takes part in delivery. */
  delivers = false;
  /** True if this replica is the maintenance leader: it saves checkpoints, expires and purges. */
  isLeader = false;
  readonly #store: StreamStore;
  readonly #replica: string;
  readonly #notify: (numbers: Iterable<number>) => void;
  readonly #known = new Map<number, Cursor>();
  /** Serialises takeovers: two at once would each see the other's rows as taken, and stop early. */
  readonly #takeovers = new Mutex();
  /** Time until which this replica owns its integrations, by performance.now(). */
  #leasedUntil = 0;
  #renewedAt = 0;

  /** `notify` is called with integrations that this replica may deliver from now on. */
  constructor(store: StreamStore, replica: string, notify: (numbers: Iterable<number>) => void) {
    this.#store = store;
    this.#replica = replica;
    this.#notify = notify;
  }

  get(number: number): Cursor | undefined {
    return this.#known.get(number);
  }

  all(): Cursor[] {
    return [...this.#known.values()];
  }

  /** Takes over a row that was read or written, unless a newer one is known. */
  update(cursor: Cursor): void {
    const before = this.#known.get(cursor.number);
    if (before !== undefined && before.version > cursor.version) return;
    this.#known.set(cursor.number, cursor);
  }

  async refresh(): Promise<void> {
    for (const cursor of await this.#store.cursors()) this.update(cursor);
  }

  /** A new cursor begins at `seq`. If this replica delivers, it owns it. */
  async register(number: number, seq: number): Promise<void> {
    if (this.#known.has(number)) return;
    this.update(await this.#store.register(number, seq, this.delivers ? leaseSeconds : null));
  }

  /** Takes back a removal. If this replica delivers, it owns the cursor. */
  async restore(number: number): Promise<void> {
    if (!this.#known.get(number)?.removed) return;
    const restored = await this.#store.restore(number, this.delivers ? leaseSeconds : null);
    if (restored) this.update(restored);
  }

  owns(number: number): boolean {
    const cursor = this.#known.get(number);
    if (cursor === undefined) return false;
    if (cursor.removed) return this.isLeader;
    return cursor.owner === this.#replica && performance.now() < this.#leasedUntil;
  }

  /** Takes part in delivery. When this resolves, no integration is left that no replica owned. */
  async deliver(): Promise<void> {
    await this.#takeovers.run(async () => {
      this.delivers = true;
      await this.#renew();
      while (await this.#takeOver()) {}
    });
  }

  /** Renews the leases in time, and takes over what no one delivers. `sleepMs`: when to call it next. */
  heartbeat(): Promise<{ sleepMs: number; renewed: boolean }> {
    return this.#takeovers.run(async () => {
      await this.refresh();
      if (!this.delivers) return { sleepMs: heartbeatEveryMs, renewed: false };
      const renewed = performance.now() - this.#renewedAt >= renewEveryMs;
      if (renewed) await this.#renew();
      return { sleepMs: (await this.#takeOver()) ? takeMoreMs : heartbeatEveryMs, renewed };
    });
  }

  /** Gives up all leases. */
  async release(): Promise<void> {
    this.delivers = false;
    await this.#store.release();
  }

  async #renew(): Promise<void> {
    const now = performance.now();
    const lapsed = now >= this.#leasedUntil;
    this.isLeader = await this.#store.acquireLeadership(leaseSeconds);
    await this.#store.renew(leaseSeconds);
    this.#renewedAt = now;
    this.#leasedUntil = now + leaseSeconds * 1000 - leaseMarginMs;
    // Delivery stopped with the lease: it resumes for what no one has taken over in the meantime.
    if (lapsed) this.#notify([...this.#known.keys()].filter((number) => this.owns(number)));
  }

  /**
   * Takes half of what no one delivers, so that replicas that try at the same time share it. Resolves to whether there
   * is more.
   */
  async #takeOver(): Promise<boolean> {
    const free = this.all().filter((cursor) => cursor.free && !cursor.removed);
    if (free.length === 0) return false;
    const wanted = free
      .map(({ number }) => number)
      .sort(() => Math.random() - 0.5)
      .slice(0, Math.ceil(free.length / 2));
    const taken = await this.#store.acquire(wanted, leaseSeconds);
    for (const cursor of taken) this.update(cursor);
    this.#notify(taken.map(({ number }) => number));
    return taken.length > 0 && free.length > wanted.length;
  }
}
