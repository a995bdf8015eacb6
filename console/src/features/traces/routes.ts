import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { compareSearch, traceSearch, tracesSearch } from './search.ts';

export const tracesPages = [
  page({
    path: '/traces',
    search: tracesSearch,
    operation: 'listTraces',
    component: [() => import('./TracesPage.tsx'), 'TracesPage'],
  }),
  page({
    path: '/traces/compare',
    search: compareSearch,
    operation: 'getTrace',
    component: [() => import('./ComparePage.tsx'), 'ComparePage'],
  }),
  page({
    path: '/traces/$traceId',
    search: traceSearch,
    operation: 'getTrace',
    first: ({ params: { traceId } }) => [readOf('getTrace', { trace_id: traceId })],
    component: [() => import('./TracePage.tsx'), 'TracePage'],
  }),
] as const;
