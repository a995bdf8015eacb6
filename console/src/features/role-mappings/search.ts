import { searchSchema, text } from '../../app/search.ts';

export const roleMappingsSearch = searchSchema({ next: text });
