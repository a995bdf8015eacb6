import { flag, searchSchema, text } from '../../routing/search.ts';

export const apiKeysSearch = searchSchema({
  q: text,
  kind: text,
  status: text,
  owner: text,
  new: flag,
  next: text,
});
