import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { agentSearch, agentsSearch, newAgentSearch } from './search.ts';

export const agentsPages = [
  page({
    path: '/agents',
    search: agentsSearch,
    operation: 'listAgents',
    first: readList('listAgentSummaries'),
    component: [() => import('./AgentsPage.tsx'), 'AgentsPage'],
  }),
  page({
    path: '/agents/new',
    search: newAgentSearch,
    operation: 'createAgent',
    component: [() => import('./NewAgentPage.tsx'), 'NewAgentPage'],
  }),
  page({
    path: '/agents/$agentId',
    search: agentSearch,
    operation: 'getAgent',
    first: ({ params: { agentId }, search }) => [
      readOf('getAgentOverview', { agent_id: agentId }),
      ...((search.tab ?? 'overview') === 'overview' ? [readOf('getAgent', { agent_id: agentId })] : []),
    ],
    component: [() => import('./AgentPage.tsx'), 'AgentPage'],
  }),
] as const;
