import { searchSchema, text } from '../../routing/search.ts';

export const statusSearch = searchSchema({ tab: text });
