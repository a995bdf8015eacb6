import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { integrationSearch, integrationsSearch } from './search.ts';

export const integrationsPages = [
  page({
    path: '/integrations',
    search: integrationsSearch,
    operation: 'listObservabilityIntegrations',
    first: () => [readOf('listIntegrations', {})],
    component: [() => import('./IntegrationsPage.tsx'), 'IntegrationsPage'],
  }),
  page({
    path: '/integrations/new',
    search: noSearch,
    operation: 'createObservabilityIntegration',
    component: [() => import('./NewIntegrationPage.tsx'), 'NewIntegrationPage'],
  }),
  page({
    path: '/integrations/$integrationId',
    search: integrationSearch,
    operation: 'getObservabilityIntegration',
    first: ({ params }) => [readOf('getIntegration', { integration_id: params.integrationId })],
    component: [() => import('./IntegrationPage.tsx'), 'IntegrationPage'],
  }),
] as const;
