import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { overviewQuery, overviewSearch } from './search.ts';

export const overviewPages = [
  page({
    path: '/',
    search: overviewSearch,
    operation: 'getOverview',
    first: () => [readOf('getOverview', {}, overviewQuery)],
    component: [() => import('./OverviewPage.tsx'), 'OverviewPage'],
  }),
] as const;
