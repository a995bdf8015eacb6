import { page } from '../../routing/page.ts';
import { pricesSearch } from './search.ts';

export const pricesPages = [
  page({
    path: '/prices',
    search: pricesSearch,
    operation: 'listPrices',
    component: [() => import('./PricesPage.tsx'), 'PricesPage'],
  }),
] as const;
