import { searchSchema, text } from '../../app/search.ts';

export const semanticDataModelsSearch = searchSchema({ q: text, next: text });

export const semanticDataModelSearch = searchSchema({ tab: text });
