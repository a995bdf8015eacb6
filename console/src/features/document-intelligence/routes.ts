import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';

export const documentIntelligencePages = [
  page({
    path: '/document-intelligence',
    search: noSearch,
    operation: 'getDocumentIntelligence',
    component: [() => import('./DocumentIntelligencePage.tsx'), 'DocumentIntelligencePage'],
  }),
] as const;
