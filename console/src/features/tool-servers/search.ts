import { searchSchema, text } from '../../app/search.ts';

export const toolServersSearch = searchSchema({ q: text, next: text });

export const toolServerSearch = searchSchema({ tab: text, q: text });
