import { databaseNow, type Executor } from '../database/index.ts';
import { periodAt } from './engine/periods.ts';
import { keyOf } from './engine/share.ts';
import { type Budget, findPeriods, type PeriodFigures } from './store.ts';

export const states = ['ok', 'warning', 'exhausted'] as const;
export type BudgetState = (typeof states)[number];

/** A warning begins at this part of the limit, if nothing is to be notified. */
const warningPercent = 80;

/**
 * Returns the state of a period. It is exhausted when all is spent, and also when a call was refused for this limit: less than
 * the bound of a call may be left then.
 */
export const stateOf = (
  { limit, notify_percent }: Pick<Budget, 'limit' | 'notify_percent'>,
  { spent, extra, exhausted_at_limit }: Pick<PeriodFigures, 'spent' | 'extra' | 'exhausted_at_limit'>,
): BudgetState => {
  const most = limit + extra;
  if (spent >= most || exhausted_at_limit === most) return 'exhausted';
  const percent = notify_percent.length > 0 ? Math.max(...notify_percent) : warningPercent;
  return spent * 100 >= most * percent ? 'warning' : 'ok';
};

/** A period as responses show it. */
export const shownPeriod = (budget: Budget, figures: Omit<PeriodFigures, 'id'>) => {
  const { starts_at, ends_at, spent, assumed, reserved, extra } = figures;
  return { starts_at, ends_at, spent, assumed, reserved, extra, state: stateOf(budget, figures) };
};

/** The current period of each of these budgets, by their ids; none of one that has a period for each subject. */
export const currentPeriods = async (
  executor: Executor,
  all: readonly Budget[],
): Promise<ReadonlyMap<string, ReturnType<typeof shownPeriod>>> => {
  const shared = all.filter(({ scope }) => scope.kind === 'workspace' || scope.id !== null);
  if (shared.length === 0) return new Map();
  const now = await databaseNow(executor);
  const keys = shared.map((budget) => {
    const span = periodAt(budget.period, budget.timezone, now, budget.effective_from.getTime());
    return { budget, ...keyOf({ budget, subjectId: budget.scope.id ?? '', span, key: '' }) };
  });
  const found = await findPeriods(
    executor,
    keys.map(({ budget: _, ...key }) => key),
  );
  const none = { spent: 0, assumed: 0, reserved: 0, extra: 0, exhausted_at_limit: null };
  return new Map(
    keys.map(({ budget, starts_at, ends_at }) => [
      budget.id,
      shownPeriod(budget, found.get(budget.id) ?? { starts_at, ends_at, ...none }),
    ]),
  );
};
