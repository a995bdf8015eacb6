import { searchSchema, text } from '../../routing/search.ts';

export const auditSearch = searchSchema({
  q: text,
  action: text,
  principal_id: text,
  target_type: text,
  target_id: text,
  outcome: text,
  from: text,
  to: text,
  request_id: text,
  next: text,
});
