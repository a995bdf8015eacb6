import { searchSchema, text } from '../../app/search.ts';

export const statusSearch = searchSchema({ tab: text });
