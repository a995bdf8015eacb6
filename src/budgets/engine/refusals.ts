import { ApiError } from '../../lib/errors.ts';
import type { BudgetAction, CountedBudget } from './store.ts';

type Unit = CountedBudget['unit'];

/** Shows nano-USD as USD with two decimals, or more where there is more: `0.0034950 USD` is `0.003495 USD`. */
const usd = (nano: number): string => {
  const [whole = '0', decimals = ''] = (BigInt(Math.round(nano)) + 0n)
    .toString()
    .padStart(10, '0')
    .match(/^(.*)(.{9})$/)!
    .slice(1);
  return `${whole}.${decimals.replace(/0{1,7}$/, '')} USD`;
};

/** Shows an amount in the unit of a budget. */
export const shownAmount = (unit: Unit, amount: number): string =>
  unit === 'nano_usd' ? usd(amount) : `${amount.toLocaleString('en')} tokens`;

/** The budget that keeps a call from being made, and the figures of its period. */
export interface Exceeded {
  budget: CountedBudget;
  periodId: string;
  subjectId: string;
  spent: number;
  /** With what approvals added. */
  limit: number;
  /** What the call may use; null: it is not known, as for an external worker. */
  bound: number | null;
  endsAt: Date | null;
}

/** A call was not made, because a budget has no room for it. */
export class BudgetExceeded extends Error implements Exceeded {
  override readonly name = 'BudgetExceeded';
  readonly code = 'budget_exceeded';
  readonly budget: CountedBudget;
  /** What is to be done. `cheaper` refuses when nothing is left. */
  readonly action: Exclude<BudgetAction, 'cheaper'>;
  readonly periodId: string;
  readonly subjectId: string;
  readonly spent: number;
  readonly limit: number;
  readonly bound: number | null;
  readonly endsAt: Date | null;

  constructor({ budget, periodId, subjectId, spent, limit, bound, endsAt }: Exceeded) {
    const show = (amount: number) => shownAmount(budget.unit, amount);
    const end = endsAt ? ` Its period ends at ${endsAt.toISOString()}.` : '';
    const call = bound === null ? '' : `, and the call may use up to ${show(bound)}`;
    super(`The budget ${budget.name} has no room: ${show(spent)} of ${show(limit)} are spent${call}.${end}`);
    this.budget = budget;
    this.action = budget.action === 'cheaper' ? 'refuse' : budget.action;
    this.periodId = periodId;
    this.subjectId = subjectId;
    this.spent = spent;
    this.limit = limit;
    this.bound = bound;
    this.endsAt = endsAt;
  }
}

/** A call was not made, because a budget of money counts it and no price of its model is known. */
export class PriceUnknown extends Error {
  override readonly name = 'PriceUnknown';
  readonly code = 'price_unknown';
  readonly budget: CountedBudget;
  readonly model: string;

  constructor(budget: CountedBudget, model: string) {
    super(
      `The budget ${budget.name} counts money, and the model ${model} has no price. Add a price for it, or allow such calls with the setting BUDGET_UNKNOWN_PRICE.`,
    );
    this.budget = budget;
    this.model = model;
  }
}

/** Returns whether a call was not made because of a budget. */
export const isBudgetRefusal = (error: unknown): error is BudgetExceeded | PriceUnknown =>
  error instanceof BudgetExceeded || error instanceof PriceUnknown;

/** The same for a request that wanted the call: 412. */
export const toApiError = ({ budget, code, message }: BudgetExceeded | PriceUnknown): ApiError =>
  new ApiError('precondition_failed', message, { reason: code, budget_id: budget.id });

/** The order in which the actions of several budgets count. */
const order: readonly BudgetAction[] = ['refuse', 'ask', 'wait', 'cheaper'];

/** Returns the one of several budgets whose action is taken. `cheaper` refuses when nothing is left. */
export const strictest = <E extends Exceeded>(found: readonly E[]): E =>
  [...found].sort((a, b) => {
    const rank = ({ budget }: E) => (budget.action === 'cheaper' ? 0 : order.indexOf(budget.action));
    return rank(a) - rank(b);
  })[0]!;
