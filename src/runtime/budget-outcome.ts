import type { BudgetExceeded } from '../budgets/index.ts';
import { budgetApproval, budgetWaitOf } from '../runs/index.ts';
import type { AttemptOutcome, Run } from './run-store.ts';

/** An administrator is offered so many bounds of the call that found no room. */
const offeredBounds = 10;

/** Returns what becomes of an attempt whose model call found no room in a budget. Only Work Items wait for a period. */
export const outcomeOfBudget = (
  error: BudgetExceeded,
  { purpose, acting }: Pick<Run<unknown>, 'purpose' | 'acting'>,
): AttemptOutcome => {
  const { action, endsAt, message, code, bound } = error;
  if (purpose === 'run' && action === 'ask') {
    const approvals = [budgetApproval(error, offeredBounds * (bound ?? 0))];
    return { status: 'NEEDS_REVIEW', reason: message, approvals };
  }
  if (purpose === 'run' && action === 'wait' && endsAt !== null && acting.workItemId !== null) {
    return { status: 'WAIT', wait: budgetWaitOf(error), until: endsAt };
  }
  return { status: 'ERROR', error: { code, message } };
};
