import { readEarly } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';

export const brandingPages = [
  page({
    path: '/branding',
    search: noSearch,
    operation: 'getBranding',
    first: () => readEarly('getBranding', {}),
    component: [() => import('./BrandingPage.tsx'), 'BrandingPage'],
  }),
] as const;
