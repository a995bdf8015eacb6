import { path } from '../../api/request.ts';
import { oneOf, searchSchema, text } from '../../app/search.ts';

export const agentsSearch = searchSchema({ q: text, mode: text, next: text });

export const newAgentSearch = searchSchema({ copy: text });

export const agentTabs = [
  'overview',
  'schedules',
  'work-items',
  'conversations',
  'instructions',
  'tools',
  'connect',
] as const;
export const agentSearch = searchSchema({ tab: oneOf(agentTabs), next: text });

/** What the page of one agent asks for, with the tab that is open first. */
export const agentRequests = (id: string, { tab }: ReturnType<typeof agentSearch>) => [
  { path: path`/app/api/agents/${id}/overview` },
  ...((tab ?? 'overview') === 'overview' ? [{ path: path`/api/v2/agents/${id}` }] : []),
];
