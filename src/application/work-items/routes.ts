import type { Database } from '../../database/index.ts';
import type { Route } from '../../http/index.ts';
import type { WorkItemNeeds } from '../../work-items/index.ts';
import { detailRoutes } from './detail-routes.ts';
import { listRoutes } from './list-routes.ts';

/** Work Items with the names of what they refer to, and why they wait. */
export const workItemRoutes = (db: Database, needs: Pick<WorkItemNeeds, 'traceLinks'>): Route[] => [
  ...listRoutes(db),
  ...detailRoutes(db, needs),
];
