import { searchSchema, text } from '../../app/search.ts';

export const llmConfigurationsSearch = searchSchema({ q: text, next: text });
