import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { apiKeysSearch } from './search.ts';

export const apiKeysPages = [
  page({
    path: '/api-keys',
    search: apiKeysSearch,
    operation: 'listApiKeys',
    first: readList('listNamedApiKeys'),
    component: [() => import('./ApiKeysPage.tsx'), 'ApiKeysPage'],
  }),
] as const;
