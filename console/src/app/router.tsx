import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { agentSearch, agentsSearch, newAgentSearch } from '../features/agents/search.ts';
import { apiKeysSearch } from '../features/api-keys/search.ts';
import { auditSearch } from '../features/audit/search.ts';
import { conversationSearch } from '../features/conversations/search.ts';
import { dataConnectionSearch, dataConnectionsSearch } from '../features/data-connections/search.ts';
import { extractionSearch, extractionsSearch, newExtractionSearch } from '../features/extractions/search.ts';
import { integrationSearch, integrationsSearch } from '../features/integrations/search.ts';
import { llmConfigurationsSearch } from '../features/llm-configurations/search.ts';
import { overviewSearch } from '../features/overview/search.ts';
import { reviewSearch } from '../features/review/search.ts';
import { roleMappingsSearch } from '../features/role-mappings/search.ts';
import { newScheduleSearch, scheduleSearch, schedulesSearch } from '../features/schedules/search.ts';
import {
  newSemanticDataModelSearch,
  semanticDataModelSearch,
  semanticDataModelsSearch,
} from '../features/semantic-data-models/search.ts';
import { settingsSearch } from '../features/settings/search.ts';
import { statusSearch } from '../features/status/search.ts';
import { toolServerSearch, toolServersSearch } from '../features/tool-servers/search.ts';
import { usersSearch } from '../features/users/search.ts';
import { newWorkItemSearch, workItemSearch, workItemsSearch } from '../features/work-items/search.ts';
import { Crashed, CrashedAlone, NotFound } from './Fallbacks.tsx';
import { Root } from './Root.tsx';
import { Shell } from './Shell.tsx';
import { parseSearch, searchSchema, stringifySearch, text } from './search.ts';
import { Unreadable } from './Unreadable.tsx';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The operation without which the page shows nothing: who may not call it is told which role may. */
    operation?: string;
  }
}

const root = createRootRoute({
  component: Root,
  errorComponent: CrashedAlone,
  notFoundComponent: Unreadable,
});

/** All pages but sign-in are inside the frame. */
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchSchema({ return_to: text }),
  component: lazyRouteComponent(() => import('../features/sign-in/SignInPage.tsx'), 'SignInPage'),
});

/** A page inside the frame. It is loaded when someone goes to it or points at a link to it. */
const page = <P extends string, S extends object>(
  path: P,
  component: ReturnType<typeof lazyRouteComponent>,
  search: (raw: Record<string, unknown>) => S,
  operation?: string,
) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    component,
    validateSearch: search,
    staticData: operation === undefined ? {} : { operation },
  });

const none = searchSchema({});

const pages = [
  page(
    '/',
    lazyRouteComponent(() => import('../features/overview/OverviewPage.tsx'), 'OverviewPage'),
    overviewSearch,
    'getOverview',
  ),
  page(
    '/review',
    lazyRouteComponent(() => import('../features/review/ReviewPage.tsx'), 'ReviewPage'),
    reviewSearch,
    'listWorkItems',
  ),
  page(
    '/review/$workItemId',
    lazyRouteComponent(() => import('../features/review/ReviewPage.tsx'), 'ReviewPage'),
    reviewSearch,
    'listWorkItems',
  ),
  page(
    '/work-items',
    lazyRouteComponent(() => import('../features/work-items/WorkItemsPage.tsx'), 'WorkItemsPage'),
    workItemsSearch,
    'listWorkItems',
  ),
  page(
    '/work-items/new',
    lazyRouteComponent(() => import('../features/work-items/NewWorkItemPage.tsx'), 'NewWorkItemPage'),
    newWorkItemSearch,
    'createWorkItem',
  ),
  page(
    '/work-items/$workItemId',
    lazyRouteComponent(() => import('../features/work-items/WorkItemPage.tsx'), 'WorkItemPage'),
    workItemSearch,
    'getWorkItem',
  ),
  page(
    '/schedules',
    lazyRouteComponent(() => import('../features/schedules/SchedulesPage.tsx'), 'SchedulesPage'),
    schedulesSearch,
    'listSchedules',
  ),
  page(
    '/schedules/new',
    lazyRouteComponent(() => import('../features/schedules/NewSchedulePage.tsx'), 'NewSchedulePage'),
    newScheduleSearch,
    'createSchedule',
  ),
  page(
    '/schedules/$scheduleId',
    lazyRouteComponent(
      () => import('../features/schedules/ScheduleRedirectPage.tsx'),
      'ScheduleRedirectPage',
    ),
    scheduleSearch,
    'getSchedule',
  ),
  page(
    '/agents/$agentId/schedules/$scheduleId',
    lazyRouteComponent(() => import('../features/schedules/SchedulePage.tsx'), 'SchedulePage'),
    scheduleSearch,
    'getSchedule',
  ),
  page(
    '/agents/$agentId/schedules/$scheduleId/edit',
    lazyRouteComponent(() => import('../features/schedules/EditSchedulePage.tsx'), 'EditSchedulePage'),
    none,
    'replaceSchedule',
  ),
  page(
    '/agents',
    lazyRouteComponent(() => import('../features/agents/AgentsPage.tsx'), 'AgentsPage'),
    agentsSearch,
    'listAgents',
  ),
  page(
    '/agents/new',
    lazyRouteComponent(() => import('../features/agents/NewAgentPage.tsx'), 'NewAgentPage'),
    newAgentSearch,
    'createAgent',
  ),
  page(
    '/agents/$agentId',
    lazyRouteComponent(() => import('../features/agents/AgentPage.tsx'), 'AgentPage'),
    agentSearch,
    'getAgent',
  ),
  page(
    '/agents/$agentId/conversations/$conversationId',
    lazyRouteComponent(() => import('../features/conversations/ConversationPage.tsx'), 'ConversationPage'),
    conversationSearch,
    'getConversation',
  ),
  page(
    '/extractions',
    lazyRouteComponent(() => import('../features/extractions/ExtractionsPage.tsx'), 'ExtractionsPage'),
    extractionsSearch,
    'listExtractions',
  ),
  page(
    '/extractions/new',
    lazyRouteComponent(() => import('../features/extractions/NewExtractionPage.tsx'), 'NewExtractionPage'),
    newExtractionSearch,
    'createExtraction',
  ),
  page(
    '/extractions/$extractionId',
    lazyRouteComponent(() => import('../features/extractions/ExtractionPage.tsx'), 'ExtractionPage'),
    extractionSearch,
    'getExtraction',
  ),
  page(
    '/document-intelligence',
    lazyRouteComponent(
      () => import('../features/document-intelligence/DocumentIntelligencePage.tsx'),
      'DocumentIntelligencePage',
    ),
    none,
    'getDocumentIntelligence',
  ),
  page(
    '/integrations',
    lazyRouteComponent(() => import('../features/integrations/IntegrationsPage.tsx'), 'IntegrationsPage'),
    integrationsSearch,
    'listObservabilityIntegrations',
  ),
  page(
    '/integrations/new',
    lazyRouteComponent(() => import('../features/integrations/NewIntegrationPage.tsx'), 'NewIntegrationPage'),
    none,
    'createObservabilityIntegration',
  ),
  page(
    '/integrations/$integrationId',
    lazyRouteComponent(() => import('../features/integrations/IntegrationPage.tsx'), 'IntegrationPage'),
    integrationSearch,
    'getObservabilityIntegration',
  ),
  page(
    '/llm-configurations',
    lazyRouteComponent(
      () => import('../features/llm-configurations/LlmConfigurationsPage.tsx'),
      'LlmConfigurationsPage',
    ),
    llmConfigurationsSearch,
    'listLlmConfigurations',
  ),
  page(
    '/llm-configurations/new',
    lazyRouteComponent(
      () => import('../features/llm-configurations/NewLlmConfigurationPage.tsx'),
      'NewLlmConfigurationPage',
    ),
    none,
    'createLlmConfiguration',
  ),
  page(
    '/llm-configurations/$llmId',
    lazyRouteComponent(
      () => import('../features/llm-configurations/LlmConfigurationPage.tsx'),
      'LlmConfigurationPage',
    ),
    none,
    'getLlmConfiguration',
  ),
  page(
    '/tool-servers',
    lazyRouteComponent(() => import('../features/tool-servers/ToolServersPage.tsx'), 'ToolServersPage'),
    toolServersSearch,
    'listToolServers',
  ),
  page(
    '/tool-servers/new',
    lazyRouteComponent(() => import('../features/tool-servers/NewToolServerPage.tsx'), 'NewToolServerPage'),
    none,
    'createToolServer',
  ),
  page(
    '/tool-servers/$toolServerId',
    lazyRouteComponent(() => import('../features/tool-servers/ToolServerPage.tsx'), 'ToolServerPage'),
    toolServerSearch,
    'getToolServer',
  ),
  page(
    '/data-connections',
    lazyRouteComponent(
      () => import('../features/data-connections/DataConnectionsPage.tsx'),
      'DataConnectionsPage',
    ),
    dataConnectionsSearch,
    'listDataConnections',
  ),
  page(
    '/data-connections/new',
    lazyRouteComponent(
      () => import('../features/data-connections/NewDataConnectionPage.tsx'),
      'NewDataConnectionPage',
    ),
    none,
    'createDataConnection',
  ),
  page(
    '/data-connections/$dataConnectionId',
    lazyRouteComponent(
      () => import('../features/data-connections/DataConnectionPage.tsx'),
      'DataConnectionPage',
    ),
    dataConnectionSearch,
    'getDataConnection',
  ),
  page(
    '/semantic-data-models',
    lazyRouteComponent(
      () => import('../features/semantic-data-models/SemanticDataModelsPage.tsx'),
      'SemanticDataModelsPage',
    ),
    semanticDataModelsSearch,
    'listSemanticDataModels',
  ),
  page(
    '/semantic-data-models/new',
    lazyRouteComponent(
      () => import('../features/semantic-data-models/NewSemanticDataModelPage.tsx'),
      'NewSemanticDataModelPage',
    ),
    newSemanticDataModelSearch,
    'createSemanticDataModel',
  ),
  page(
    '/semantic-data-models/$semanticDataModelId',
    lazyRouteComponent(
      () => import('../features/semantic-data-models/SemanticDataModelPage.tsx'),
      'SemanticDataModelPage',
    ),
    semanticDataModelSearch,
    'getSemanticDataModel',
  ),
  page(
    '/api-keys',
    lazyRouteComponent(() => import('../features/api-keys/ApiKeysPage.tsx'), 'ApiKeysPage'),
    apiKeysSearch,
    'listApiKeys',
  ),
  page(
    '/users',
    lazyRouteComponent(() => import('../features/users/UsersPage.tsx'), 'UsersPage'),
    usersSearch,
    'listUsers',
  ),
  page(
    '/role-mappings',
    lazyRouteComponent(() => import('../features/role-mappings/RoleMappingsPage.tsx'), 'RoleMappingsPage'),
    roleMappingsSearch,
    'listRoleMappings',
  ),
  page(
    '/settings',
    lazyRouteComponent(() => import('../features/settings/SettingsPage.tsx'), 'SettingsPage'),
    settingsSearch,
    'getAdvancedSettings',
  ),
  page(
    '/branding',
    lazyRouteComponent(() => import('../features/branding/BrandingPage.tsx'), 'BrandingPage'),
    none,
    'getBranding',
  ),
  page(
    '/audit',
    lazyRouteComponent(() => import('../features/audit/AuditPage.tsx'), 'AuditPage'),
    auditSearch,
    'listAudits',
  ),
  page(
    '/status',
    lazyRouteComponent(() => import('../features/status/StatusPage.tsx'), 'StatusPage'),
    statusSearch,
    'getStatus',
  ),
];

/** Any other address. */
const notFound = createRoute({ getParentRoute: () => shell, path: '$', component: NotFound });

/** The router. Every page of the application is in the list above. */
export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren([...pages, notFound])]),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Crashed,
  defaultPreload: 'intent',
  defaultPreloadDelay: 60,
  scrollRestoration: true,
  trailingSlash: 'never',
});
