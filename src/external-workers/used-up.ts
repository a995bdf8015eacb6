import { findPrincipalKind } from '../access/index.ts';
import type { BudgetExceeded, Budgets } from '../budgets/index.ts';
import type { Tx } from '../database/index.ts';
import type { Principal } from '../lib/principal.ts';
import { budgetApproval, budgetWaitOf } from '../runs/index.ts';
import { type WorkItem, workItemRuns } from '../work-items/index.ts';

/** An administrator is offered this part of the limit: what the work will cost is not known. */
const offeredPart = 0.1;

/** Does with a claimed Work Item what its budget says that is used up. */
const endFor = async (tx: Tx, item: WorkItem, error: BudgetExceeded, by: Principal): Promise<void> => {
  const lease = { id: item.id, fencing: item.fencing, by };
  const { action, code, message, endsAt, budget } = error;
  if (action === 'ask') {
    const review = { reason: message, approvals: [budgetApproval(error, budget.limit * offeredPart)] };
    await workItemRuns.finish(tx, { ...lease, status: 'NEEDS_REVIEW', review });
  } else if (action === 'wait' && endsAt !== null) {
    await workItemRuns.postpone(tx, { ...lease, wait: budgetWaitOf(error), until: endsAt });
  } else await workItemRuns.finish(tx, { ...lease, status: 'ERROR', error: { code, message } });
};

/** Ends those claimed Work Items whose budgets are used up. Returns the others, and what each budget said. */
export const endUsedUp = async (
  tx: Tx,
  budgets: Pick<Budgets, 'findUsedUp'>,
  items: readonly WorkItem[],
  by: Principal,
): Promise<{ left: WorkItem[]; exceeded: BudgetExceeded[] }> => {
  const left: WorkItem[] = [];
  const exceeded: BudgetExceeded[] = [];
  for (const item of items) {
    const error = await budgets.findUsedUp(tx, async () => {
      const kind = await findPrincipalKind(tx, item.created_by);
      return {
        agentId: item.agent_id,
        scheduleId: item.schedule_id,
        triggerId: item.trigger_id,
        personId: kind === 'person' ? item.created_by : null,
        apiKeyId: kind === 'service_account' ? item.created_by : null,
        llmId: null,
      };
    });
    if (error) {
      await endFor(tx, item, error, by);
      exceeded.push(error);
    } else left.push(item);
  }
  return { left, exceeded };
};
