import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const integrationsSearch = searchSchema({ q: text, state: text, next: text });

export const integrationTabs = ['health', 'settings', 'scopes', 'dead-letters'] as const;
export const integrationSearch = searchSchema({ tab: oneOf(integrationTabs), next: text });
