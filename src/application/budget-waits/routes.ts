import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { id, jsonRoute, type Route, timestamp } from '../../http/index.ts';
import { isId } from '../../lib/ids.ts';
import { roleAllows } from '../../lib/principal.ts';
import { listBudgetWaits } from './store.ts';

const most = 200;

const named = z.object({ id, name: z.string().nullable() });

const wait = z
  .object({
    kind: z.enum(['work_item', 'run']).describe('A Work Item, or a run of a conversation.'),
    id,
    name: z.string().nullable(),
    agent: named.meta({ id: 'WaitingAgent' }),
    conversation_id: id.nullable(),
    budget: named.meta({ id: 'WaitedBudget' }),
    waits_for: z.enum(['period', 'admin']).describe('For the next period, or for an administrator.'),
    since: timestamp,
    until: timestamp.nullable(),
  })
  .meta({ id: 'BudgetWait' });

export const budgetWaitRoutes = (db: Database): Route[] => [
  jsonRoute({
    id: 'listBudgetWaits',
    role: 'builder',
    scope: 'costs:read',
    request: 'GET /budget-waits',
    base: 'app',
    summary: 'List what waits for budgets',
    description: `Work Items and runs of conversations, the longest wait first, at most ${most}.`,
    query: z.object({ budget_id: z.string().optional() }),
    response: z.object({ data: z.array(wait) }).meta({ id: 'BudgetWaitList' }),
    handler: ({ query: { budget_id }, principal }) =>
      db.run(async (executor) => {
        if (budget_id !== undefined && !isId(budget_id)) return { data: [] };
        const withPeople = roleAllows(principal.role, 'admin');
        const rows = await listBudgetWaits(executor, {
          budgetId: budget_id ?? null,
          withPeople,
          limit: most,
        });
        return {
          data: rows.map(({ agent_id, agent_name, budget_id: waited, budget_name, ...row }) => ({
            ...row,
            agent: { id: agent_id, name: agent_name },
            budget: { id: waited, name: budget_name },
          })),
        };
      }),
  }),
];
