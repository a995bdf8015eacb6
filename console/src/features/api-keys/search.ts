import { flag, searchSchema, text } from '../../app/search.ts';

export const apiKeysSearch = searchSchema({ q: text, kind: text, status: text, new: flag, next: text });
