import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { createHooks } from '../lib/hooks.ts';
import type { Actor } from '../lib/principal.ts';
import { budgetAttention } from './attention.ts';
import { createBudget, deleteBudget, lockBudget, lockBudgetToUpdate, updateBudget } from './budgets.ts';
import { BudgetEngine } from './engine/engine.ts';
import type { BudgetExceeded } from './engine/refusals.ts';
import { Notices } from './notices.ts';
import { deleteOldPeriods } from './retention.ts';
import { budgetRoutes } from './routes.ts';
import { type Budget, type BudgetChanges, listBudgets, type NewBudget } from './store.ts';

export { budgetCalls } from './calls.ts';
export type { Bound } from './engine/call.ts';
export type { CallSubjects } from './engine/copy.ts';
export { BudgetExceeded, isBudgetRefusal, shownAmount, toApiError } from './engine/refusals.ts';
export type { Reservation } from './engine/reservation.ts';
export { type Settlement, settleShares } from './engine/settle.ts';
export { form as budgetForm } from './routes.ts';

export interface Budgets
  extends Feature,
    Pick<BudgetEngine, 'reserve' | 'count' | 'limits' | 'substitute' | 'ready' | 'findUsedUp'> {
  /** Records that a budget was used up for something else than a call: its state says so when this resolves. */
  exceeded(error: BudgetExceeded): Promise<void>;
  /** Calls `hook` each second while there are budgets, and after a change: what waits for a budget may go on. */
  onRoom(hook: () => Promise<void>): void;
  /** All budgets. */
  list(executor: Executor): Promise<Budget[]>;
  /** `leaving`: how many the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, values: NewBudget, leaving: number): Promise<Budget>;
  update(tx: Tx, actor: Actor, id: string, changes: BudgetChanges): Promise<Budget>;
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Returns the lines of the Overview on budgets; `withPeople`: also on those of persons. */
  attention: typeof budgetAttention;
}

/** Budgets: what model calls may cost in a period. */
export const createBudgets = ({ db, log, settings }: Services): Budgets => {
  const notices = new Notices(db, log);
  const room = createHooks<[]>();
  const engine = new BudgetEngine({
    db,
    log,
    leaseSeconds: () => settings.get().WORK_ITEM_LEASE_SECONDS,
    allowsUnknownPrice: () => settings.get().BUDGET_UNKNOWN_PRICE === 'allow',
    observer: {
      exceeded: (error) => notices.exceeded(error),
      cheaper: (budget) => notices.cheaper(budget),
      spent: (periodIds) => notices.check(periodIds),
      room: room.call,
    },
  });
  return {
    tag: { name: 'Budgets', description: 'What model calls may cost in a period, and what is done then.' },
    routes: budgetRoutes(db),
    metrics: notices.metrics,
    retention: [
      async (tx, { CHARGE_RETENTION_DAYS: days }, limit) =>
        days === 0 ? 0 : deleteOldPeriods(tx, days, limit),
    ],
    start: async () => engine.listen(),
    // Runs on until the features stop: calls that the loops of others have begun are still in flight.
    loops: [{ start: () => engine.start(), stop: async () => {}, pass: () => engine.pass() }],
    stop: () => engine.stop(),
    reserve: (call) => engine.reserve(call),
    limits: (subjects) => engine.limits(subjects),
    substitute: (subjects, signal) => engine.substitute(subjects, signal),
    count: (subjects) => engine.count(subjects),
    ready: (signal) => engine.ready(signal),
    findUsedUp: (executor, subjectsOf) => engine.findUsedUp(executor, subjectsOf),
    exceeded: (error) => notices.exceeded(error),
    onRoom: room.add,
    attention: budgetAttention,
    list: (executor) => listBudgets(executor, everything, true),
    create: createBudget,
    update: async (tx, actor, id, changes) =>
      updateBudget(tx, actor, await lockBudgetToUpdate(tx, id, changes), changes),
    delete: async (tx, actor, id) => deleteBudget(tx, actor, await lockBudget(tx, id)),
  };
};
