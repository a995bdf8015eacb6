import { searchSchema, text } from '../../routing/search.ts';

export const pricesSearch = searchSchema({ next: text });
