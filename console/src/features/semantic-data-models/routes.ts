import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { newSemanticDataModelSearch, semanticDataModelSearch, semanticDataModelsSearch } from './search.ts';

export const semanticDataModelsPages = [
  page({
    path: '/semantic-data-models',
    search: semanticDataModelsSearch,
    operation: 'listSemanticDataModels',
    first: readList('listSemanticDataModels'),
    component: [() => import('./SemanticDataModelsPage.tsx'), 'SemanticDataModelsPage'],
  }),
  page({
    path: '/semantic-data-models/new',
    search: newSemanticDataModelSearch,
    operation: 'createSemanticDataModel',
    component: [() => import('./NewSemanticDataModelPage.tsx'), 'NewSemanticDataModelPage'],
  }),
  page({
    path: '/semantic-data-models/$semanticDataModelId',
    search: semanticDataModelSearch,
    operation: 'getSemanticDataModel',
    first: ({ params: { semanticDataModelId } }) => [
      readOf('getSemanticDataModel', { semantic_data_model_id: semanticDataModelId }),
    ],
    component: [() => import('./SemanticDataModelPage.tsx'), 'SemanticDataModelPage'],
  }),
] as const;
