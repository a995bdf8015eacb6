import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const groupings = [
  'day',
  'agent',
  'model',
  'llm_configuration',
  'schedule',
  'trigger',
  'purpose',
  'person',
  'api_key',
] as const;
export type Grouping = (typeof groupings)[number];

/** Days that a page of costs looks back. */
export const spans = ['7', '30', '90', '365'] as const;

export const costsSearch = searchSchema({
  group_by: oneOf(groupings),
  days: oneOf(spans),
  agent_id: text,
  model: text,
  schedule_id: text,
  trigger_id: text,
});
