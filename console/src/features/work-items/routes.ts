import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { listQuery } from './list/filters.ts';
import { newWorkItemSearch, workItemSearch, workItemsSearch } from './search.ts';

export const workItemsPages = [
  page({
    path: '/work-items',
    search: workItemsSearch,
    operation: 'listWorkItems',
    first: ({ search }) => [readOf('searchWorkItems', {}, listQuery(search))],
    component: [() => import('./WorkItemsPage.tsx'), 'WorkItemsPage'],
  }),
  page({
    path: '/work-items/new',
    search: newWorkItemSearch,
    operation: 'createWorkItem',
    component: [() => import('./NewWorkItemPage.tsx'), 'NewWorkItemPage'],
  }),
  page({
    path: '/work-items/$workItemId',
    search: workItemSearch,
    operation: 'getWorkItem',
    first: ({ params }) => [readOf('getWorkItemDetail', { work_item_id: params.workItemId })],
    component: [() => import('./WorkItemPage.tsx'), 'WorkItemPage'],
  }),
] as const;
