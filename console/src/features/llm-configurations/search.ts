import { searchSchema, text } from '../../routing/search.ts';

export const llmConfigurationsSearch = searchSchema({ q: text, next: text });
