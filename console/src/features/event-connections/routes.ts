import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { eventConnectionsSearch } from './search.ts';

export const eventConnectionsPages = [
  page({
    path: '/event-connections',
    search: eventConnectionsSearch,
    operation: 'listEventConnections',
    first: readList('listEventConnections'),
    component: [() => import('./EventConnectionsPage.tsx'), 'EventConnectionsPage'],
  }),
  page({
    path: '/event-connections/new',
    search: noSearch,
    operation: 'createEventConnection',
    component: [() => import('./NewEventConnectionPage.tsx'), 'NewEventConnectionPage'],
  }),
  page({
    path: '/event-connections/$eventConnectionId',
    search: noSearch,
    operation: 'getEventConnection',
    first: ({ params: { eventConnectionId } }) => [
      readOf('getEventConnection', { event_connection_id: eventConnectionId }),
    ],
    component: [() => import('./EventConnectionPage.tsx'), 'EventConnectionPage'],
  }),
] as const;
