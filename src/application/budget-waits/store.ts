import { type Executor, sql } from '../../database/index.ts';

/** Something that waits for a budget. */
export interface BudgetWaitRow {
  kind: 'work_item' | 'run';
  id: string;
  name: string | null;
  agent_id: string;
  agent_name: string | null;
  conversation_id: string | null;
  budget_id: string;
  budget_name: string;
  waits_for: 'period' | 'admin';
  since: Date;
  until: Date | null;
}

const approval = sql`w.pending_approvals -> 0 -> 'budget'`;
const ofBudget = sql`w.pending_approvals @> '[{"kind": "budget"}]'`;

/** What waits for budgets, or for the one with this id; the longest wait first. `withPeople`: also for those of persons. */
export const listBudgetWaits = async (
  executor: Executor,
  { budgetId, withPeople, limit }: { budgetId: string | null; withPeople: boolean; limit: number },
): Promise<BudgetWaitRow[]> => {
  const { rows } = await sql<BudgetWaitRow>`
    select waits.*, a.name as agent_name from (
      select 'work_item' as kind, w.id, w.work_item_name as name, w.agent_id, null::uuid as conversation_id,
        (w.budget_wait ->> 'budget_id')::uuid as budget_id, w.budget_wait ->> 'name' as budget_name,
        'period' as waits_for, w.updated_at as since, w.not_before as until
      from work_items w where w.status = 'PENDING' and w.budget_wait is not null and w.not_before > platform_now()
      union all
      select 'work_item', w.id, w.work_item_name, w.agent_id, null, (${approval} ->> 'budget_id')::uuid, ${approval} ->> 'name',
        'admin', w.updated_at, null
      from work_items w where w.status = 'NEEDS_REVIEW' and ${ofBudget}
      union all
      select 'run', w.id, null, w.agent_id, w.conversation_id, (${approval} ->> 'budget_id')::uuid, ${approval} ->> 'name',
        'admin', (w.pending_approvals -> 0 ->> 'requested_at')::timestamptz(3), null
      from conversation_runs w where w.status = 'needs_review' and ${ofBudget}
    ) waits
    left join agents a on a.id = waits.agent_id
    where (${budgetId}::uuid is null or waits.budget_id = ${budgetId})
      and (${withPeople} or not exists (select from budgets b where b.id = waits.budget_id
        and b.scope ->> 'kind' = 'person'))
    order by waits.since, waits.id limit ${limit}`.execute(executor);
  return rows;
};
