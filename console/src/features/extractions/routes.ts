import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { extractionSearch, extractionsSearch, newExtractionSearch } from './search.ts';

export const extractionsPages = [
  page({
    path: '/extractions',
    search: extractionsSearch,
    operation: 'listExtractions',
    first: readList('listExtractions'),
    component: [() => import('./ExtractionsPage.tsx'), 'ExtractionsPage'],
  }),
  page({
    path: '/extractions/new',
    search: newExtractionSearch,
    operation: 'createExtraction',
    component: [() => import('./NewExtractionPage.tsx'), 'NewExtractionPage'],
  }),
  page({
    path: '/extractions/$extractionId',
    search: extractionSearch,
    operation: 'getExtraction',
    first: ({ params: { extractionId } }) => [readOf('getExtraction', { extraction_id: extractionId })],
    component: [() => import('./ExtractionPage.tsx'), 'ExtractionPage'],
  }),
] as const;
