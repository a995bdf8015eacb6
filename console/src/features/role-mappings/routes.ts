import { page } from '../../routing/page.ts';
import { roleMappingsSearch } from './search.ts';

export const roleMappingsPages = [
  page({
    path: '/role-mappings',
    search: roleMappingsSearch,
    operation: 'listRoleMappings',
    component: [() => import('./RoleMappingsPage.tsx'), 'RoleMappingsPage'],
  }),
] as const;
