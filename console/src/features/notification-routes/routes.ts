import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch, searchSchema, text } from '../../routing/search.ts';

export const notificationRoutesPages = [
  page({
    path: '/routes',
    search: searchSchema({ next: text }),
    operation: 'listRoutes',
    first: readList('listRoutes'),
    component: [() => import('./RoutesPage.tsx'), 'RoutesPage'],
  }),
  page({
    path: '/routes/new',
    search: noSearch,
    operation: 'createRoute',
    component: [() => import('./NewRoutePage.tsx'), 'NewRoutePage'],
  }),
  page({
    path: '/routes/$routeId',
    search: noSearch,
    operation: 'getRoute',
    first: ({ params: { routeId } }) => [readOf('getRoute', { route_id: routeId })],
    component: [() => import('./RoutePage.tsx'), 'RoutePage'],
  }),
] as const;
