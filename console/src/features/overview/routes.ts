import { readEarly } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { overviewQuery, overviewSearch } from './search.ts';

export const overviewPages = [
  page({
    path: '/',
    search: overviewSearch,
    operation: 'getOverview',
    first: () => readEarly('getOverview', {}, overviewQuery),
    component: [() => import('./OverviewPage.tsx'), 'OverviewPage'],
  }),
] as const;
