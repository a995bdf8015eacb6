import { searchSchema, text } from '../../app/search.ts';

export const usersSearch = searchSchema({ role: text, status: text, next: text });
