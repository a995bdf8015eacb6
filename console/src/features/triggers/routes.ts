import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { eventsQuery, newTriggerSearch, triggerSearch, triggersSearch } from './search.ts';

export const triggersPages = [
  page({
    path: '/triggers',
    search: triggersSearch,
    operation: 'listTriggers',
    first: readList('listAllTriggers'),
    component: [() => import('./TriggersPage.tsx'), 'TriggersPage'],
  }),
  page({
    path: '/triggers/new',
    search: newTriggerSearch,
    operation: 'createTrigger',
    component: [() => import('./NewTriggerPage.tsx'), 'NewTriggerPage'],
  }),
  page({
    path: '/triggers/$triggerId',
    search: triggerSearch,
    operation: 'listTriggers',
    component: [() => import('./TriggerRedirectPage.tsx'), 'TriggerRedirectPage'],
  }),
  page({
    path: '/agents/$agentId/triggers/$triggerId',
    search: triggerSearch,
    operation: 'getTrigger',
    first: ({ params: { agentId, triggerId }, search }) => [
      readOf('getTrigger', { agent_id: agentId, trigger_id: triggerId }),
      ...((search.tab ?? 'events') === 'events'
        ? [readOf('listTriggerEvents', { agent_id: agentId, trigger_id: triggerId }, eventsQuery(search))]
        : []),
    ],
    component: [() => import('./TriggerPage.tsx'), 'TriggerPage'],
  }),
  page({
    path: '/agents/$agentId/triggers/$triggerId/edit',
    search: noSearch,
    operation: 'replaceTrigger',
    component: [() => import('./EditTriggerPage.tsx'), 'EditTriggerPage'],
  }),
] as const;
