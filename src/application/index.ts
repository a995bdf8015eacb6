import type { Access } from '../access/index.ts';
import type { Agents } from '../agents/index.ts';
import type { Alerts } from '../alerts/index.ts';
import type { Audit } from '../audit/index.ts';
import type { Budgets } from '../budgets/index.ts';
import type { Channels } from '../channels/index.ts';
import type { Charges } from '../charges/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Observability } from '../observability/index.ts';
import type { Replicas } from '../replicas/index.ts';
import type { Schedules } from '../schedules/index.ts';
import type { Triggers } from '../triggers/index.ts';
import type { WorkItems } from '../work-items/index.ts';
import { auditListRoutes } from './audits/routes.ts';
import { budgetWaitRoutes } from './budget-waits/routes.ts';
import { OverviewReader } from './overview/overview.ts';
import { overviewRoutes } from './overview/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { statusRoutes } from './status/routes.ts';

interface Needs {
  access: Access;
  agents: Agents;
  alerts: Alerts;
  audit: Audit;
  budgets: Budgets;
  channels: Channels;
  charges: Charges;
  observability: Observability;
  replicas: Replicas;
  schedules: Schedules;
  triggers: Triggers;
  workItems: WorkItems;
}

/**
 * Application: the pages that show several features at once (the Overview and the search) and what both need. It reads
 * the tables of all features in its own SQL, and never writes them.
 */
export const createApplication = (
  { config, db, settings }: Services,
  {
    access,
    agents,
    alerts,
    audit,
    budgets,
    channels,
    charges,
    observability,
    replicas,
    schedules,
    triggers,
    workItems,
  }: Needs,
): Feature => {
  const overview = new OverviewReader(db, () => settings.get(), {
    schedules: schedules.overview,
    triggers: triggers.overview,
    workItems: workItems.overview,
    integrations: observability.overview,
    replicas: replicas.overview,
    keyAttention: access.keyAttention,
    auditAttention: audit.attention,
    agentAttention: agents.attention,
    costs: charges.overview,
    budgetAttention: budgets.attention,
    alertAttention: alerts.attention,
    channelAttention: channels.attention,
  });
  return {
    tag: { name: 'Application', description: 'What the application shows of several features at once.' },
    routes: [
      ...overviewRoutes(overview),
      ...schedules.pageRoutes,
      ...workItems.pageRoutes,
      ...agents.pageRoutes,
      ...budgetWaitRoutes(db),
      ...searchRoutes(db),
      ...auditListRoutes(db, audit),
      ...statusRoutes({ db, settings, sharedLog: config.telemetryLog !== null }),
    ],
  };
};
