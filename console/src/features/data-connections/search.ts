import { searchSchema, text } from '../../app/search.ts';

export const dataConnectionsSearch = searchSchema({ q: text, next: text });
