import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const dataConnectionsSearch = searchSchema({
  q: text,
  engine: oneOf(['postgres', 'mysql', 'sqlite']),
  next: text,
});

export const dataConnectionTabs = ['tables', 'settings'] as const;
/** `table` and `of` are the open table and its schema. */
export const dataConnectionSearch = searchSchema({
  tab: oneOf(dataConnectionTabs),
  q: text,
  schema: text,
  table: text,
  of: text,
  next: text,
});
