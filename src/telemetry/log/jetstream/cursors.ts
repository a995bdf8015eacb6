import { Mutex } from '../../../lib/semaphore.ts';
import type { Cursor, StreamStore } from './store.ts';

/** An integration whose owner has not renewed for so long is taken over. */
const leaseSeconds = 12;
const renewEveryMs = 4_000;
const lookEveryMs = 1_000;
const takeMoreMs = 100;
/** How long before the end of its lease an owner stops to deliver, by its own clock. */
const leaseMarginMs = 1_000;

/**
 * What this replica knows of the cursors, and which of them it owns. The rows are the truth: what is known here of
 * those that others own is about a second old, and only the owner's fencing token moves one.
 */
export class Cursors {
  /** This replica takes part in delivery. */
  delivers = false;
  /** It is the one that saves marks, expires and purges. */
  keepsHouse = false;
  readonly #store: StreamStore;
  readonly #replica: string;
  readonly #tell: (numbers: Iterable<number>) => void;
  readonly #known = new Map<number, Cursor>();
  /** One at a time takes over: each would find taken what the other one took for this replica, and give up. */
  readonly #taking = new Mutex();
  /** By performance.now(): until then what this replica owns is its own. */
  #leasedUntil = 0;
  #renewedAt = 0;

  /** `tell` is called with integrations that this replica may deliver from now on. */
  constructor(store: StreamStore, replica: string, tell: (numbers: Iterable<number>) => void) {
    this.#store = store;
    this.#replica = replica;
    this.#tell = tell;
  }

  get(number: number): Cursor | undefined {
    return this.#known.get(number);
  }

  all(): Cursor[] {
    return [...this.#known.values()];
  }

  /** Keeps a row unless a newer one is known. */
  keep(cursor: Cursor): void {
    const before = this.#known.get(cursor.number);
    if (before !== undefined && before.version > cursor.version) return;
    this.#known.set(cursor.number, cursor);
  }

  async refresh(): Promise<void> {
    for (const cursor of await this.#store.cursors()) this.keep(cursor);
  }

  /** A new one begins at `seq`, and is this replica's own where it delivers. */
  async register(number: number, seq: number): Promise<void> {
    if (this.#known.has(number)) return;
    this.keep(await this.#store.register(number, seq, this.delivers ? leaseSeconds : null));
  }

  owns(number: number): boolean {
    const cursor = this.#known.get(number);
    if (cursor === undefined) return false;
    if (cursor.removed) return this.keepsHouse;
    return cursor.owner === this.#replica && performance.now() < this.#leasedUntil;
  }

  /** Takes part in delivery: when this resolves, nothing is left that nobody delivered. */
  async deliver(): Promise<void> {
    await this.#taking.run(async () => {
      this.delivers = true;
      await this.#renew();
      while (await this.#takeOver()) {}
    });
  }

  /** Renews the leases in time, and takes over what nobody delivers. `sleepMs`: when to call it next. */
  tend(): Promise<{ sleepMs: number; renewed: boolean }> {
    return this.#taking.run(async () => {
      await this.refresh();
      if (!this.delivers) return { sleepMs: lookEveryMs, renewed: false };
      const renewed = performance.now() - this.#renewedAt >= renewEveryMs;
      if (renewed) await this.#renew();
      return { sleepMs: (await this.#takeOver()) ? takeMoreMs : lookEveryMs, renewed };
    });
  }

  /** Lets go of everything. */
  async release(): Promise<void> {
    this.delivers = false;
    await this.#store.release();
  }

  async #renew(): Promise<void> {
    const now = performance.now();
    const lapsed = now >= this.#leasedUntil;
    this.keepsHouse = await this.#store.keep(leaseSeconds);
    await this.#store.renew(leaseSeconds);
    this.#renewedAt = now;
    this.#leasedUntil = now + leaseSeconds * 1000 - leaseMarginMs;
    // Delivery stopped with the lease: what nobody took over meanwhile goes on.
    if (lapsed) this.#tell([...this.#known.keys()].filter((number) => this.owns(number)));
  }

  /** Half of what nobody delivers, so that replicas that look at the same time share it. Answers whether there is more. */
  async #takeOver(): Promise<boolean> {
    const free = this.all().filter((cursor) => cursor.free && !cursor.removed);
    if (free.length === 0) return false;
    const wanted = free
      .map(({ number }) => number)
      .sort(() => Math.random() - 0.5)
      .slice(0, Math.ceil(free.length / 2));
    const taken = await this.#store.acquire(wanted, leaseSeconds);
    for (const cursor of taken) this.keep(cursor);
    this.#tell(taken.map(({ number }) => number));
    return taken.length > 0 && free.length > wanted.length;
  }
}
