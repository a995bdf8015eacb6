import { searchSchema, text } from '../../routing/search.ts';

export const usersSearch = searchSchema({ role: text, status: text, next: text });
