import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { dataConnectionSearch, dataConnectionsSearch } from './search.ts';

export const dataConnectionsPages = [
  page({
    path: '/data-connections',
    search: dataConnectionsSearch,
    operation: 'listDataConnections',
    first: readList('listDataConnections'),
    component: [() => import('./DataConnectionsPage.tsx'), 'DataConnectionsPage'],
  }),
  page({
    path: '/data-connections/new',
    search: noSearch,
    operation: 'createDataConnection',
    component: [() => import('./NewDataConnectionPage.tsx'), 'NewDataConnectionPage'],
  }),
  page({
    path: '/data-connections/$dataConnectionId',
    search: dataConnectionSearch,
    operation: 'getDataConnection',
    first: ({ params: { dataConnectionId } }) => [
      readOf('getDataConnection', { data_connection_id: dataConnectionId }),
    ],
    component: [() => import('./DataConnectionPage.tsx'), 'DataConnectionPage'],
  }),
] as const;
