import { searchSchema, text } from '../../app/search.ts';

export const conversationSearch = searchSchema({ next: text });
