import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const evaluationsSearch = searchSchema({
  tab: oneOf(['datasets', 'experiments', 'judges']),
  state: oneOf(['queued', 'running', 'cancelled', 'done']),
  agent_id: text,
  next: text,
});

export const datasetSearch = searchSchema({
  tab: oneOf(['cases', 'graders', 'experiments']),
  q: text,
  tag: text,
  enabled: oneOf(['true', 'false']),
  state: oneOf(['queued', 'running', 'cancelled', 'done']),
  agent_id: text,
  next: text,
});

export const markFilters = [
  'passed',
  'not_passed',
  'completed',
  'failed',
  'diverged',
  'error',
  'cancelled',
] as const;

export const experimentSearch = searchSchema({ outcome: oneOf(markFilters), grader: text, next: text });

export const compareSearch = searchSchema({ a: text, b: text, case: text, next: text });

export const labelSearch = searchSchema({ experiment: text, grader: text });
