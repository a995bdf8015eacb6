import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { reviewQuery, reviewSearch } from './search.ts';

export const reviewPages = [
  page({
    path: '/review',
    search: reviewSearch,
    operation: 'listWorkItems',
    first: ({ search }) => [readOf('searchWorkItems', {}, reviewQuery(search))],
    component: [() => import('./ReviewPage.tsx'), 'ReviewPage'],
  }),
  page({
    path: '/review/$workItemId',
    search: reviewSearch,
    operation: 'listWorkItems',
    component: [() => import('./ReviewPage.tsx'), 'ReviewPage'],
  }),
] as const;
