import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { budgetSearch, budgetsSearch } from './search.ts';

export const budgetsPages = [
  page({
    path: '/budgets',
    search: budgetsSearch,
    operation: 'listBudgets',
    component: [() => import('./BudgetsPage.tsx'), 'BudgetsPage'],
  }),
  page({
    path: '/budgets/$budgetId',
    search: budgetSearch,
    operation: 'getBudget',
    first: ({ params: { budgetId } }) => [readOf('getBudget', { budget_id: budgetId })],
    component: [() => import('./BudgetPage.tsx'), 'BudgetPage'],
  }),
] as const;
