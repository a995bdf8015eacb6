import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { usersSearch } from './search.ts';

export const usersPages = [
  page({
    path: '/users',
    search: usersSearch,
    operation: 'listUsers',
    first: readList('listUsers'),
    component: [() => import('./UsersPage.tsx'), 'UsersPage'],
  }),
] as const;
