import { page } from '../../routing/page.ts';
import { costsSearch } from './search.ts';

export const costsPages = [
  page({
    path: '/costs',
    search: costsSearch,
    operation: 'getCosts',
    component: [() => import('./CostsPage.tsx'), 'CostsPage'],
  }),
] as const;
