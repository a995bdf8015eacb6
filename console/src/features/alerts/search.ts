import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const alertKinds = [
  'missed',
  'late',
  'failing',
  'waiting',
  'integration',
  'tool_server',
  'budget',
  'trigger',
  'no_scheduler',
] as const;

export const alertsSearch = searchSchema({
  tab: oneOf(['firing', 'history', 'rules']),
  kind: oneOf(alertKinds),
  agent_id: text,
  next: text,
});
