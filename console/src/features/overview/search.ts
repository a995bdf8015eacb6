import { searchSchema, text } from '../../routing/search.ts';

export const overviewSearch = searchSchema({ hours: text });

export const overviewQuery = { hours: 24 };
