import { searchSchema, text } from '../../routing/search.ts';

export const budgetsSearch = searchSchema({ next: text, new: text });
export const budgetSearch = searchSchema({ next: text });
