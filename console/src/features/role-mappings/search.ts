import { searchSchema, text } from '../../routing/search.ts';

export const roleMappingsSearch = searchSchema({ next: text });
