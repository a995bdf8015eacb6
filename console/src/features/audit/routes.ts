import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { auditSearch } from './search.ts';

export const auditPages = [
  page({
    path: '/audit',
    search: auditSearch,
    operation: 'listAudits',
    first: readList('listAuditEntries'),
    component: [() => import('./AuditPage.tsx'), 'AuditPage'],
  }),
] as const;
