import { searchSchema, text } from '../../app/search.ts';

export const overviewSearch = searchSchema({ hours: text });

/** What the page asks for. */
export const overviewRequest = { path: '/app/api/overview', query: { hours: 24 } };
