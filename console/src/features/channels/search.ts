import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const channelsSearch = searchSchema({
  kind: oneOf(['slack', 'email', 'webhook', 'teams', 'pagerduty']),
  next: text,
});
