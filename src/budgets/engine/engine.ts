import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Executor } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop, type LoopPass } from '../../lib/loop.ts';
import { Mutex } from '../../lib/semaphore.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { amountOf, type BoundCall, type Call, noBound } from './call.ts';
import type { Applied, CallSubjects } from './copy.ts';
import { PeriodFigures } from './figures.ts';
import { Lease } from './lease.ts';
import { type Asked, needsOf } from './needs.ts';
import { BudgetExceeded, type Exceeded, PriceUnknown, strictest } from './refusals.ts';
import { type Reservation, reservationOf, unreserved } from './reservation.ts';
import { keyOf, type Period, periodsAt, Share } from './share.ts';
import {
  addSettlements,
  type CountedBudget,
  closeLostShares,
  createPeriods,
  type Granted,
  grantShares,
  idOf,
  listShareIds,
  type Need,
  readTotals,
  returnShares,
} from './store.ts';

interface EngineParts {
  db: Database;
  log: Logger;
  /** The time after which a replica that was not seen is lost, in seconds. */
  leaseSeconds: () => number;
  /** True: a call without a known price is made under budgets of money, and reserves nothing of them. */
  allowsUnknownPrice: () => boolean;
  /** The most that a call waits for room that others hold, in milliseconds; default: a minute. */
  patienceMs?: number;
  observer?: BudgetObserver;
}

/** What follows from what the engine does. */
interface BudgetObserver {
  /** A call finds no room. It is rejected when this resolves. */
  exceeded(error: BudgetExceeded): Promise<void>;
  /** A call goes to the cheaper model of a budget. */
  cheaper(budget: CountedBudget): void;
  /**
   * Called each second with the ids of the periods in which something was spent; null: any period may have news, because
   * budgets changed, and now and then, because a replica that is lost has not looked.
   */
  spent(periodIds: readonly string[] | null): Promise<void>;
  /** Called each second while there are budgets, and after a change: there may be room for what waits. */
  room(): Promise<void>;
}

/** The channel on which replicas say that budgets changed. */
export const budgetsChannel = 'budgets';
/** The channel on which they say that a period has room again. */
const roomChannel = 'budget_room';

const patienceMs = 60_000;
/** The interval at which all periods are looked at. */
const sweepEveryMs = 30_000;
/** The pause between two ticks while there is no budget and nothing asks; a third of a lease if this replica has one. */
const idleEveryMs = 30_000;
/** A call asks: the ticks stay as close as its copy of the budgets needs for so long. */
const askedForMs = 10_000;
/** The pause before a database that does not respond is asked again for a call that waits. */
const againMs = 200;
const mostCallsOfGrant = 50;
const mostPeriodIds = 10_000;
/** The stop of a replica does not wait longer for its shares to be given back: others close them when its lease is over. */
const returnWithinMs = 2_000;

interface Waiter extends BoundCall {
  resolve(reservation: Reservation): void;
  reject(error: unknown): void;
  /** It was told that there is no room, and asks again at the next tick. */
  isTold: boolean;
  /** When it was told so for the first time, by performance.now(). */
  toldSince: number | null;
}

type AskedCall = Asked<Waiter>;

const stopped = () => new Error('the replica stops');

/** Returns whether a share lacks room. A disabled budget counts, and limits nothing. */
const lacks = ({ budget }: Period, share: Share | undefined, amount: number): boolean =>
  share === undefined || (budget.enabled && amount > 0 && share.left < amount);

/**
 * The budgets of the calls of one replica. It holds a share of each period, which the database granted, and calls reserve
 * from shares in memory. Whatever happens to it, the shares of all replicas are within the limit.
 */
export class BudgetEngine {
  readonly #parts: EngineParts;
  readonly #loop: Loop;
  readonly #lease: Lease;
  readonly #shares = new Map<string, Share>();
  /** Shares that nothing reserves from any more, until they are closed. */
  readonly #retired = new Set<Share>();
  readonly #waiters = new Set<Waiter>();
  /** The periods that waiters lack room of: who comes later waits behind them. */
  readonly #blocked = new Set<string>();
  readonly #refills = new Set<Share>();
  /** The ids of periods, by their keys, for charges without shares. */
  readonly #periodIds = new Map<string, string>();
  /** Grants and returns, one at a time. */
  readonly #changes = new Mutex();
  #isGranting = false;
  /** The periods in which something was spent since the last tick. */
  readonly #spent = new Set<string>();
  readonly #figures: PeriodFigures;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  /** When a call last asked, by performance.now(). */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The version of the budgets for which `room` was called last. */
  #roomFor = '';
  /** The grants, for the benchmark. */
  grants = 0;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#lease = new Lease(parts, () => this.#lose());
    this.#figures = new PeriodFigures(parts.db, (id) => this.#lease.copy.byId.get(id));
    this.#loop = new Loop({
      name: 'budgets',
      log: parts.log,
      maxRetryMs: 1_000,
      tick: () => this.#tick(),
    });
  }

  /** Begins to listen for changes. */
  listen(): void {
    const { db } = this.#parts;
    db.listen(budgetsChannel, () => this.#loop.wake());
    db.listen(roomChannel, () => this.#askAgain());
  }

  start(): void {
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Gives back what nothing is in flight for. Calls that wait are rejected, and so are those that come. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop.stop();
    for (const waiter of this.#waiters) this.#end(waiter, () => waiter.reject(stopped()));
    if (this.#lease.id === null) return;
    const given = this.#return(() => true).then(() => this.#lease.end());
    await withTimeout(given, returnWithinMs).catch((error) => {
      this.#parts.log.warn({ error: messageOf(error) }, 'shares of budgets were not given back');
    });
  }

  /** Reads the budgets as they are now, for a replica that has just changed one. */
  async refresh(): Promise<void> {
    await this.#lease.renew();
    this.#askAgain();
  }

  /** Resolves to whether a budget may limit a call of these subjects; to true if the budgets cannot be read. */
  async limits(subjects: CallSubjects): Promise<boolean> {
    try {
      if (!this.#lease.isFresh) await this.#lease.renew();
    } catch {
      return true;
    }
    return this.#lease.copy.of(subjects).some(({ budget }) => budget.enabled);
  }

  /**
   * Reserves room in all budgets of a call, or in none; in memory in the usual case. Waits while others only hold the
   * room, and while the budgets cannot be read. Rejects with BudgetExceeded or PriceUnknown, or as the signal says.
   */
  async reserve({ subjects, signal, bound }: Call): Promise<Reservation> {
    signal.throwIfAborted();
    if (this.#isStopped) throw stopped();
    this.#askedAt = performance.now();
    const isUncounted = this.#lease.isFresh && this.#lease.copy.of(subjects).length === 0;
    // A call without a bound must not wait: a budget may count it by then.
    if (isUncounted) return this.#attempt({ subjects, signal, bound: noBound }, null)!;
    const call: BoundCall = { subjects, signal, bound: await bound() };
    signal.throwIfAborted();
    if (this.#isStopped) throw stopped();
    if (this.#lease.isFresh) {
      const taken = this.#attempt(call, this.#waiters.size > 0 ? this.#blocked : null);
      if (taken) return taken;
    }
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>();
    const abort = () => this.#end(waiter, () => reject(signal.reason));
    const settled = <T>(settle: (value: T) => void) => {
      return (value: T) => {
        signal.removeEventListener('abort', abort);
        settle(value);
      };
    };
    const waiter: Waiter = {
      ...call,
      resolve: settled(resolve),
      reject: settled(reject),
      isTold: false,
      toldSince: null,
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#waiters.add(waiter);
    this.#pump();
    return promise;
  }

  /**
   * Resolves to the LLM configuration that a call goes to in the place of its own, because a budget with the action `cheaper`
   * has reached its `from_percent`; of several the one with the least left. Null: the call goes where it was going.
   */
  async substitute(subjects: CallSubjects, signal: AbortSignal): Promise<string | null> {
    await this.#whenFresh(signal);
    const isCheaper = ({ budget }: Applied) => budget.enabled && budget.action === 'cheaper';
    const applied = this.#lease.copy.of(subjects).filter(isCheaper);
    if (applied.length === 0) return null;
    const periods = periodsAt(applied, this.#lease.now());
    const spent = await this.#figures.spentParts(periods);
    const reached = periods.flatMap(({ key, budget }) => {
      const part = spent.get(key);
      if (part === undefined) return [];
      const left = 1 - part;
      return (1 - left) * 100 >= budget.from_percent ? [{ budget, left }] : [];
    });
    const [least] = reached.sort((a, b) => a.left - b.left);
    if (!least || least.budget.llm_id === subjects.llmId) return null;
    this.#parts.observer?.cheaper(least.budget);
    return least.budget.llm_id;
  }

  /** Resolves when the budgets are confirmed: before a transaction that calls `findUsedUp`. */
  ready(signal: AbortSignal): Promise<void> {
    return this.#whenFresh(signal);
  }

  /** Resolves to what the used up budget of these subjects says, whose action is taken; null if there is none. */
  async findUsedUp(
    executor: Executor,
    subjectsOf: () => Promise<CallSubjects>,
  ): Promise<BudgetExceeded | null> {
    const { copy } = this.#lease;
    if (copy.budgets.length === 0) return null;
    const applied = copy.of(await subjectsOf()).filter(({ budget }) => budget.enabled);
    const periods = periodsAt(applied, this.#lease.now());
    if (periods.length === 0) return null;
    const found = await readTotals(executor, periods.map(keyOf));
    const usedUp = periods.flatMap((period): Exceeded[] => {
      const { budget, subjectId, span } = period;
      const totals = found.get(idOf(keyOf(period)));
      if (!totals) return [];
      const { id: periodId, spent, extra, exhausted_at_limit } = totals;
      const limit = budget.limit + extra;
      if (spent < limit && exhausted_at_limit !== limit) return [];
      const endsAt = span.end === null ? null : new Date(span.end);
      return [{ budget, subjectId, periodId, spent, limit, bound: null, endsAt }];
    });
    return usedUp.length === 0 ? null : new BudgetExceeded(strictest(usedUp));
  }

  /** Returns what a charge adds to its budgets that no call was reserved for, such as one of an external worker: of a call now. */
  async count(subjects: CallSubjects): Promise<Reservation> {
    while (!this.#lease.isFresh) await this.#lease.renew();
    const startedAt = this.#lease.now();
    const periods = periodsAt(this.#lease.copy.of(subjects), startedAt);
    const missing = periods.filter(({ key }) => !this.#periodIds.has(key));
    if (missing.length > 0) {
      const wanted = missing.map((one) => ({ ...keyOf(one), period_id: newId() }));
      const ids = await this.#parts.db.tx((tx) => createPeriods(tx, wanted));
      for (const [k, { key }] of missing.entries()) if (ids[k]) this.#rememberPeriod(key, ids[k]);
    }
    const found = periods.flatMap(({ key, budget }) => {
      const periodId = this.#periodIds.get(key);
      return periodId === undefined ? [] : [{ periodId, budget }];
    });
    return unreserved(found, startedAt, () => {
      for (const { periodId } of found) this.#spent.add(periodId);
    });
  }

  /** The room that this replica holds and nothing is in flight for, and what is in flight, of each period. For tests. */
  held(): { budgetId: string; subjectId: string; left: number; inFlight: number }[] {
    return [...this.#shares.values(), ...this.#retired].map(({ period, left, inFlight }) => ({
      budgetId: period.budget.id,
      subjectId: period.subjectId,
      left,
      inFlight,
    }));
  }

  /** Resolves when the copy of the budgets is confirmed. Rejects as the signal says. */
  async #whenFresh(signal: AbortSignal): Promise<void> {
    while (!this.#lease.isFresh) {
      signal.throwIfAborted();
      try {
        await this.#lease.renew();
      } catch {
        await sleep(againMs, undefined, { signal });
      }
    }
  }

  #rememberPeriod(key: string, id: string): void {
    if (this.#periodIds.size >= mostPeriodIds) this.#periodIds.clear();
    this.#periodIds.set(key, id);
  }

  /**
   * Takes room for the call, or rejects it for an unknown price. Null if it must wait, with what it lacks in `lacking`.
   * `blocked`: the periods that others wait for already.
   */
  #attempt(
    { subjects, bound }: BoundCall,
    blocked: ReadonlySet<string> | null,
    lacking?: Period[],
  ): Promise<Reservation> | null {
    const applied = this.#lease.copy.of(subjects);
    if (bound.priceUnknown && !this.#parts.allowsUnknownPrice()) {
      const priced = applied.find(({ budget }) => budget.enabled && budget.unit === 'nano_usd');
      if (priced) return Promise.reject(new PriceUnknown(priced.budget, bound.model));
    }
    const startedAt = this.#lease.now();
    const periods = periodsAt(applied, startedAt);
    let waits = false;
    for (const period of periods) {
      const isLacking = lacks(period, this.#shares.get(period.key), amountOf(period.budget, bound));
      if (isLacking) lacking?.push(period);
      waits ||= isLacking || (blocked?.has(period.key) ?? false);
    }
    if (waits) return null;
    const taken = periods.map(({ key, budget }) => {
      const [share, amount] = [this.#shares.get(key)!, amountOf(budget, bound)];
      share.take(amount);
      const isLow = budget.enabled && share.left < share.refillBelow && share.usedAt >= share.refillAfter;
      if (isLow) this.#refills.add(share);
      return { share, bound: amount };
    });
    if (this.#refills.size > 0) this.#grant();
    const isPriced = periods.some(({ budget }) => budget.enabled && budget.unit === 'nano_usd');
    const boundNanoUsd = isPriced && !bound.priceUnknown ? bound.nanoUsd : null;
    return Promise.resolve(
      reservationOf(taken, { startedAt, boundNanoUsd }, (shares, hasSpent) => {
        if (hasSpent) for (const { periodId } of shares) this.#spent.add(periodId);
        this.#pump();
      }),
    );
  }

  /** Ends the wait of a call. */
  #end(waiter: Waiter, settle: () => void): void {
    if (!this.#waiters.delete(waiter)) return;
    settle();
    this.#pump();
  }

  /** Serves the calls that wait, in their order, and asks for what they lack. */
  #pump(): void {
    if (this.#waiters.size === 0) return;
    if (!this.#lease.isFresh) {
      this.#lease.renew().then(
        () => this.#pump(),
        () => {},
      );
      return;
    }
    this.#blocked.clear();
    for (const waiter of this.#waiters) {
      const lacking: Period[] = [];
      const taken = this.#attempt(waiter, this.#blocked, lacking);
      for (const { key } of lacking) this.#blocked.add(key);
      if (!taken) continue;
      this.#waiters.delete(waiter);
      taken.then(waiter.resolve, waiter.reject);
    }
    this.#grant();
  }

  #askAgain(): void {
    for (const waiter of this.#waiters) waiter.isTold = false;
    this.#pump();
  }

  /** Nothing reserves from the shares any more. They are closed when their last call has ended. */
  #retire(shares: readonly Share[]): void {
    for (const share of shares) {
      if (this.#shares.get(share.period.key) !== share) continue;
      this.#shares.delete(share.period.key);
      this.#refills.delete(share);
      this.#retired.add(share);
    }
  }

  /** Forgets all shares: others have closed them, or will. What is in flight settles with their periods. */
  #lose(): void {
    this.#shares.clear();
    this.#retired.clear();
    this.#refills.clear();
  }

  /** Returns the calls that lack room, and the shares that have little left. */
  #asked(): AskedCall[] {
    const asked: AskedCall[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.isTold || asked.length >= mostCallsOfGrant) continue;
      const periods = periodsAt(this.#lease.copy.of(waiter.subjects), this.#lease.now()).map((period) => ({
        period,
        share: this.#shares.get(period.key) ?? null,
        amount: amountOf(period.budget, waiter.bound),
      }));
      asked.push({ waiter, periods });
    }
    for (const share of this.#refills) {
      if (asked.length >= mostCallsOfGrant) break;
      this.#refills.delete(share);
      asked.push({ waiter: null, periods: [{ period: share.period, share, amount: share.bound }] });
    }
    return asked;
  }

  /** Asks the database for what waiting calls lack, one statement at a time, until all have it or were told. */
  #grant(): void {
    if (this.#isGranting) return;
    this.#isGranting = true;
    (async () => {
      for (;;) {
        const isDone = await this.#changes.run(() => this.#grantOnce());
        if (isDone) return;
      }
    })()
      .catch((error) => {
        // The next tick asks again.
        for (const waiter of this.#waiters) waiter.isTold = true;
        this.#parts.log.warn({ error: messageOf(error) }, 'cannot get room in budgets');
      })
      .finally(() => {
        this.#isGranting = false;
      });
  }

  /** Returns whether there was nothing to ask for. */
  async #grantOnce(): Promise<boolean> {
    const { db } = this.#parts;
    const replicaId = this.#lease.id;
    if (replicaId === null || !this.#lease.isFresh) return true;
    const calls = needsOf(this.#asked());
    if (calls.length === 0) return true;
    this.grants++;
    const granted = await db.run((executor) =>
      grantShares(
        executor,
        replicaId,
        calls.map(({ needs }) => needs),
      ),
    );
    if (this.#lease.id !== replicaId) return false;
    if (granted === null) {
      this.#lease.lost();
      this.#pump();
      return true;
    }
    for (const [k, { asked, needs, of }] of calls.entries()) {
      const results = granted.filter(({ call }) => call === k + 1);
      for (const result of results) this.#merge(of[result.need - 1]!, needs[result.need - 1]!, result);
      if (asked.waiter && this.#waiters.has(asked.waiter)) this.#tell(asked.waiter, of, results);
    }
    this.#pump();
    return false;
  }

  #merge(
    { period, share, amount }: AskedCall['periods'][number],
    need: Need,
    { granted, period_id }: Granted,
  ): void {
    this.#rememberPeriod(period.key, period_id);
    if (granted === null) return;
    const current = this.#shares.get(period.key);
    if (current?.id === need.share_id) {
      // Asked for more, and there was none.
      if (granted === current.granted) current.refillAfter = performance.now() + 1_000;
      current.grow(granted);
    } else if (share) {
      // It was retired in the meantime.
      share.granted = granted;
      share.returnAgain = true;
    } else {
      const made = new Share(need.share_id, period, period_id, granted);
      made.bound = amount;
      made.grow(granted);
      this.#shares.set(period.key, made);
    }
  }

  /** Decides what a call does that was told what it asked for: try, wait, or be rejected. */
  #tell(waiter: Waiter, of: AskedCall['periods'], results: readonly Granted[]): void {
    if (results.length < of.length) {
      // A budget is gone: read them again.
      waiter.isTold = true;
      this.#loop.wake();
      return;
    }
    if (results.every(({ ok }) => ok)) return;
    const short = results.map(({ need, period_id, spent, limit, extra }) => {
      const { period, amount } = of[need - 1]!;
      return {
        budget: period.budget,
        subjectId: period.subjectId,
        periodId: period_id,
        spent,
        limit: limit + extra,
        bound: amount,
        endsAt: period.span.end === null ? null : new Date(period.span.end),
      };
    });
    const full = short.filter(({ budget, limit, spent, bound }) => budget.enabled && limit - spent < bound);
    waiter.isTold = true;
    waiter.toldSince ??= performance.now();
    const isOver = performance.now() - waiter.toldSince >= (this.#parts.patienceMs ?? patienceMs);
    if (full.length === 0 && !isOver) return;
    const error = new BudgetExceeded(strictest(full.length > 0 ? full : short));
    this.#waiters.delete(waiter);
    const told = this.#parts.observer?.exceeded(error) ?? Promise.resolve();
    told.finally(() => waiter.reject(error)).catch(() => {});
  }

  async #tick(): Promise<number> {
    const { db, leaseSeconds } = this.#parts;
    const began = performance.now();
    const { lost, wanted, shares } = await this.#lease.renew();
    if (this.#spent.size > 0) await this.#addSettlements();
    const idleSince = performance.now() - this.#lease.everyMs;
    const now = this.#lease.now();
    // More than are known here: a transaction that granted them was committed, and its response was lost.
    const hasOthers = shares > this.#shares.size + this.#retired.size;
    await this.#return((share) => {
      const { end } = share.period.span;
      return share.usedAt < idleSince || wanted.has(share.periodId) || (end !== null && end <= now);
    }, hasOthers);
    if (lost) while ((await db.run((executor) => closeLostShares(executor, leaseSeconds()))) === 200);
    await this.#observe();
    this.#askAgain();
    const holds = this.#shares.size + this.#retired.size + this.#waiters.size > 0;
    const isAsked = performance.now() - this.#askedAt < askedForMs;
    // A notification says that there is a budget, and a call confirms that there is none.
    if (this.#lease.copy.budgets.length === 0 && !holds && !isAsked)
      return this.#lease.id === null ? idleEveryMs : Math.min(idleEveryMs, leaseSeconds() * 300);
    // From one beginning to the next: a database that is slow makes the copy old as it is.
    return Math.max(0, this.#lease.everyMs - (performance.now() - began));
  }

  #addSettlements(): Promise<void> {
    return this.#changes.run(() =>
      this.#parts.db.run((executor) => addSettlements(executor, this.#lease.id, [...this.#spent])),
    );
  }

  /** Says what was spent since the last tick, and that there may be room. */
  async #observe(): Promise<void> {
    const { observer } = this.#parts;
    await this.#figures.refresh();
    const spent = [...this.#spent];
    this.#spent.clear();
    const { version, budgets } = this.#lease.copy;
    const isOld = budgets.length > 0 && performance.now() - this.#sweptAt >= sweepEveryMs;
    const isDue = isOld || this.#roomFor !== version;
    try {
      if (isDue || spent.length > 0) await observer?.spent(isDue ? null : spent);
      if (isDue) this.#sweptAt = performance.now();
    } catch (error) {
      for (const id of spent) this.#spent.add(id);
      throw error;
    }
    if (budgets.length === 0 && this.#roomFor === version) return;
    await observer?.room();
    this.#roomFor = version;
  }

  /**
   * Gives back what the shares for which `isDone` do not need. One without calls is closed. `hasOthers`: so are those that
   * this replica does not know.
   */
  #return(isDone: (share: Share) => boolean, hasOthers = false): Promise<void> {
    return this.#changes.run(async () => {
      const given: { id: string; keep: number | null }[] = [];
      const changed: Share[] = [];
      for (const share of this.#shares.values()) {
        const { budget } = share.period;
        const current = this.#lease.copy.byId.get(budget.id);
        const isLowered = current && (current.limit < budget.limit || current.enabled !== budget.enabled);
        if (current) share.period.budget = current;
        if (isDone(share) || !current || isLowered) this.#retireIfIdle(share, changed);
      }
      for (const share of this.#retired) {
        if (share.calls === 0) given.push({ id: share.id, keep: null });
        else if (share.left > 0 || share.returnAgain) changed.push(share);
      }
      for (const share of changed) {
        share.granted = Math.min(share.granted, Math.max(0, share.spent + share.inFlight));
        share.refillBelow = 0;
        share.returnAgain = true;
        given.push({ id: share.id, keep: share.granted });
      }
      if (hasOthers) for (const id of await this.#unknownShares()) given.push({ id, keep: null });
      if (given.length === 0) return;
      const closed = new Set(await this.#parts.db.run((executor) => returnShares(executor, given)));
      for (const share of changed) share.returnAgain = false;
      for (const share of this.#retired) if (closed.has(share.id)) this.#retired.delete(share);
    });
  }

  /** Resolves to the ids of shares that the database has for this replica, and nothing here reserves from. */
  async #unknownShares(): Promise<string[]> {
    const { id } = this.#lease;
    if (id === null) return [];
    const known = new Set([...this.#shares.values(), ...this.#retired].map((share) => share.id));
    const all = await this.#parts.db.run((executor) => listShareIds(executor, id));
    return all.filter((one) => !known.has(one));
  }

  #retireIfIdle(share: Share, changed: Share[]): void {
    if (share.calls === 0) this.#retire([share]);
    else if (share.left > 0 || share.returnAgain) changed.push(share);
  }
}
