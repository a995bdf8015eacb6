import { searchSchema, text } from '../../app/search.ts';

export const overviewSearch = searchSchema({ hours: text });
