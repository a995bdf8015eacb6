import type { Audit } from '../audit/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { WorkItemNeeds } from '../work-items/index.ts';
import { agentListRoutes } from './agents/routes.ts';
import { auditListRoutes } from './audits/routes.ts';
import { OverviewReader } from './overview/overview.ts';
import { overviewRoutes } from './overview/routes.ts';
import { scheduleListRoutes } from './schedules/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { statusRoutes } from './status/routes.ts';
import { timelineRoutes } from './timeline/routes.ts';
import { workItemRoutes } from './work-items/routes.ts';

/**
 * What the application shows of several features at once. Its modules read the tables of all features in their own SQL,
 * and never write them.
 */
export const createApplication = (
  { config, db, settings }: Services,
  needs: Pick<WorkItemNeeds, 'traceLinks'> & { audit: Pick<Audit, 'exportEntries'> },
): Feature => ({
  tag: { name: 'Application', description: 'What the application shows of several features at once.' },
  routes: [
    ...overviewRoutes(new OverviewReader(db, () => settings.get())),
    ...scheduleListRoutes(db),
    ...timelineRoutes(db),
    ...workItemRoutes(db, needs),
    ...agentListRoutes(db),
    ...searchRoutes(db),
    ...auditListRoutes(db, needs.audit),
    ...statusRoutes({ db, settings, sharedLog: config.telemetryLog !== null }),
  ],
});
