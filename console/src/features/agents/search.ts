import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const agentsSearch = searchSchema({ q: text, mode: text, next: text });

export const newAgentSearch = searchSchema({ copy: text });

export const agentTabs = [
  'overview',
  'schedules',
  'work-items',
  'conversations',
  'instructions',
  'tools',
  'versions',
  'connect',
] as const;
export const agentSearch = searchSchema({ tab: oneOf(agentTabs), next: text, from: text, to: text });
