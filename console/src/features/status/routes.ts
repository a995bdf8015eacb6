import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { statusSearch } from './search.ts';

export const statusPages = [
  page({
    path: '/status',
    search: statusSearch,
    operation: 'getStatus',
    first: () => [readOf('getStatus', {})],
    component: [() => import('./StatusPage.tsx'), 'StatusPage'],
  }),
] as const;
