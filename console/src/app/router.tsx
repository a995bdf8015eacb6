import { createRoute, createRouter } from '@tanstack/react-router';
import { agentsPages } from '../features/agents/routes.ts';
import { alertsPages } from '../features/alerts/routes.ts';
import { apiKeysPages } from '../features/api-keys/routes.ts';
import { auditPages } from '../features/audit/routes.ts';
import { brandingPages } from '../features/branding/routes.ts';
import { budgetsPages } from '../features/budgets/routes.ts';
import { channelsPages } from '../features/channels/routes.ts';
import { conversationsPages } from '../features/conversations/routes.ts';
import { costsPages } from '../features/costs/routes.ts';
import { dataConnectionsPages } from '../features/data-connections/routes.ts';
import { documentIntelligencePages } from '../features/document-intelligence/routes.ts';
import { evaluationsPages } from '../features/evaluations/routes.ts';
import { eventConnectionsPages } from '../features/event-connections/routes.ts';
import { extractionsPages } from '../features/extractions/routes.ts';
import { integrationsPages } from '../features/integrations/routes.ts';
import { llmConfigurationsPages } from '../features/llm-configurations/routes.ts';
import { notificationRoutesPages } from '../features/notification-routes/routes.ts';
import { overviewPages } from '../features/overview/routes.ts';
import { pricesPages } from '../features/prices/routes.ts';
import { reviewPages } from '../features/review/routes.ts';
import { roleMappingsPages } from '../features/role-mappings/routes.ts';
import { schedulesPages } from '../features/schedules/routes.ts';
import { semanticDataModelsPages } from '../features/semantic-data-models/routes.ts';
import { settingsPages } from '../features/settings/routes.ts';
import { signInPage } from '../features/sign-in/routes.ts';
import { statusPages } from '../features/status/routes.ts';
import { toolServersPages } from '../features/tool-servers/routes.ts';
import { tracesPages } from '../features/traces/routes.ts';
import { triggersPages } from '../features/triggers/routes.ts';
import { usersPages } from '../features/users/routes.ts';
import { workItemsPages } from '../features/work-items/routes.ts';
import { root, shell } from '../routing/page.ts';
import { parseSearch, stringifySearch } from '../routing/search.ts';
import { Crashed, CrashedAlone, NotFound } from './Fallbacks.tsx';
import { LoadAgain } from './LoadAgain.tsx';
import { Root } from './Root.tsx';
import { Shell } from './Shell.tsx';
import { Unreadable } from './Unreadable.tsx';

root.update({ component: Root, errorComponent: CrashedAlone, notFoundComponent: Unreadable });
shell.update({ component: Shell });

/** All pages inside the frame: one line for each folder. */
const pages = [
  ...overviewPages,
  ...reviewPages,
  ...alertsPages,
  ...workItemsPages,
  ...schedulesPages,
  ...triggersPages,
  ...agentsPages,
  ...conversationsPages,
  ...extractionsPages,
  ...documentIntelligencePages,
  ...evaluationsPages,
  ...integrationsPages,
  ...llmConfigurationsPages,
  ...toolServersPages,
  ...dataConnectionsPages,
  ...eventConnectionsPages,
  ...channelsPages,
  ...notificationRoutesPages,
  ...semanticDataModelsPages,
  ...tracesPages,
  ...costsPages,
  ...budgetsPages,
  ...pricesPages,
  ...apiKeysPages,
  ...usersPages,
  ...roleMappingsPages,
  ...settingsPages,
  ...brandingPages,
  ...auditPages,
  ...statusPages,
  createRoute({ getParentRoute: () => shell, path: '$', component: NotFound }),
] as const;

/** The approval page is no part of the application: a link to it, and sign-in, load it from the platform. */
const approvalPage = createRoute({
  getParentRoute: () => root,
  path: '/approve/$reviewId',
  component: LoadAgain,
});

export const router = createRouter({
  routeTree: root.addChildren([signInPage, approvalPage, shell.addChildren(pages)]),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Crashed,
  defaultPreload: 'intent',
  defaultPreloadDelay: 60,
  // A page that was loaded because someone pointed at a link has asked for nothing yet.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  trailingSlash: 'never',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
