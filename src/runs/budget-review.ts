import { newId } from '../lib/ids.ts';
import type { BudgetWait, NewApproval } from './types.ts';

/** A budget that had no room for a run. */
interface Refusal {
  budget: { id: string; name: string };
  periodId: string;
  limit: number;
  message: string;
}

/** The largest amount of a budget. */
const most = 9e15;

/** Returns what a run remembers of the budget that it waits for. */
export const budgetWaitOf = ({ budget, periodId, limit }: Refusal): BudgetWait => ({
  budget_id: budget.id,
  name: budget.name,
  period_id: periodId,
  limit,
});

/** Returns the request for an administrator's decision. `extra`: what is added unless they say otherwise. */
export const budgetApproval = (refusal: Refusal, extra: number): NewApproval => ({
  approval_id: newId(),
  kind: 'budget',
  tool_name: null,
  tool_server_id: null,
  arguments: { budget_id: refusal.budget.id, extra: Math.min(most, Math.ceil(extra)) },
  input_schema: {
    type: 'object',
    properties: {
      budget_id: { const: refusal.budget.id },
      extra: { type: 'integer', minimum: 0, maximum: most },
    },
    required: ['extra'],
    additionalProperties: false,
  },
  reason: refusal.message,
  budget: budgetWaitOf(refusal),
});
