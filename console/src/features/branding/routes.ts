import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';

export const brandingPages = [
  page({
    path: '/branding',
    search: noSearch,
    operation: 'getBranding',
    first: () => [readOf('getBranding', {})],
    component: [() => import('./BrandingPage.tsx'), 'BrandingPage'],
  }),
] as const;
