import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const semanticDataModelsSearch = searchSchema({ q: text, connection: text, next: text });

export const newSemanticDataModelSearch = searchSchema({ connection: text });

export const modelTabs = ['model', 'document', 'queries', 'ask'] as const;
/** `at` is the path of a problem, which the text shows; `ask` is the name of a verified query that is run. */
export const semanticDataModelSearch = searchSchema({ tab: oneOf(modelTabs), at: text, ask: text });
