import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const agentsSearch = searchSchema({ q: text, mode: text, next: text });

export const newAgentSearch = searchSchema({ copy: text });

export const agentSearch = searchSchema({
  tab: oneOf([
    'overview',
    'schedules',
    'triggers',
    'work-items',
    'conversations',
    'instructions',
    'tools',
    'versions',
    'connect',
  ]),
  next: text,
  from: text,
  to: text,
});
