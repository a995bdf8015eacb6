import { flag, searchSchema, text } from '../../app/search.ts';

export const settingsSearch = searchSchema({ q: text, changed: flag });
