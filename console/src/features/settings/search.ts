import { flag, searchSchema, text } from '../../routing/search.ts';

export const settingsSearch = searchSchema({ q: text, changed: flag });
