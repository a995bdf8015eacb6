import { type Database, outsideTransaction } from '../database/index.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Mutex } from '../lib/semaphore.ts';
import type { CataloguePrice } from './catalogue.ts';
import { OwnPrices } from './own-prices.ts';
import { keepCataloguePrice, type Price, readOwnPrices } from './store.ts';

/** Notified by a trigger when an own price was created, ended or deleted. */
const channel = 'prices';

/** A copy older than that is read again in the background, and nothing waits. In milliseconds. */
const freshFor = 1_000;
/** A copy older than that is not used: it is read again first. */
const usableFor = 2_000;

/**
 * The prices in memory, so that a model call needs no statement. A read that finds no change costs one statement of one row,
 * at most once a second, and none while no model is called.
 */
export class PriceBook {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #mutex = new Mutex();
  /** Each distinct price of the catalogue that was used, by its contents. */
  readonly #catalogue = new Map<string, Promise<Price>>();
  readonly #rows = new WeakMap<CataloguePrice, Price>();
  #own = new OwnPrices([]);
  #revision = -1;
  /** Time at which the read of the copy began. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#db.listen(channel, () => this.#refreshBehind());
    await this.refresh();
  }

  /** Resolves when this replica has all that was committed before the call. */
  refresh(): Promise<void> {
    // One at a time, and each begins after its call: an older result that arrives late would stay.
    return this.#mutex.run(async () => {
      const begun = performance.now();
      const read = await this.#db.run((executor) => readOwnPrices(executor, this.#revision));
      if (read !== null) {
        this.#own = new OwnPrices(read.prices);
        this.#revision = read.revision;
      }
      this.#readAt = begun;
    });
  }

  #refreshOnce(): Promise<void> {
    this.#reading ??= this.refresh().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  #refreshBehind(): void {
    outsideTransaction(() => this.refresh()).catch((error: unknown) => {
      this.#log.warn({ error: messageOf(error) }, 'cannot read the prices');
    });
  }

  /** Resolves to the own prices, never older than 2 s unless the database does not respond. */
  async own(): Promise<OwnPrices> {
    const age = performance.now() - this.#readAt;
    if (age > usableFor) await this.#refreshOnce().catch((error: unknown) => this.#useOlder(error));
    else if (age > freshFor) outsideTransaction(() => this.#refreshOnce()).catch(() => {});
    return this.#own;
  }

  /** A charge with the price of a moment ago is better than one without: the call was made, and is paid for. */
  #useOlder(error: unknown): void {
    const isAway = error instanceof ApiError && error.code === 'service_unavailable';
    if (!isAway || this.#revision < 0) throw error;
  }

  /** Resolves to the row of a price of the catalogue. */
  async rowOf(price: CataloguePrice): Promise<Price> {
    const known = this.#rows.get(price);
    if (known !== undefined) return known;
    const row = await this.#kept(price);
    this.#rows.set(price, row);
    return row;
  }

  #kept(price: CataloguePrice): Promise<Price> {
    const key = JSON.stringify([price.model, price.rates, price.above]);
    let kept = this.#catalogue.get(key);
    if (kept === undefined) {
      kept = this.#db.tx((tx) => keepCataloguePrice(tx, price));
      this.#catalogue.set(key, kept);
      kept.catch(() => this.#catalogue.delete(key));
    }
    return kept;
  }
}
