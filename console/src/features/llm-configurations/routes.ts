import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { llmConfigurationsSearch } from './search.ts';

export const llmConfigurationsPages = [
  page({
    path: '/llm-configurations',
    search: llmConfigurationsSearch,
    operation: 'listLlmConfigurations',
    first: readList('listUsedLlmConfigurations'),
    component: [() => import('./LlmConfigurationsPage.tsx'), 'LlmConfigurationsPage'],
  }),
  page({
    path: '/llm-configurations/new',
    search: noSearch,
    operation: 'createLlmConfiguration',
    component: [() => import('./NewLlmConfigurationPage.tsx'), 'NewLlmConfigurationPage'],
  }),
  page({
    path: '/llm-configurations/$llmId',
    search: noSearch,
    operation: 'getLlmConfiguration',
    first: ({ params: { llmId } }) => [readOf('getUsedLlmConfiguration', { llm_id: llmId })],
    component: [() => import('./LlmConfigurationPage.tsx'), 'LlmConfigurationPage'],
  }),
] as const;
