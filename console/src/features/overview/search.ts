import { searchSchema, text } from '../../routing/search.ts';

export const overviewSearch = searchSchema({ hours: text });

/** What the page asks for. */
export const overviewQuery = { hours: 24 };
