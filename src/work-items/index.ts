import type { Agents } from '../agents/index.ts';
import type { Budgets } from '../budgets/index.ts';
import type { Callbacks } from '../callbacks/index.ts';
import { type OpenStreams, Watcher } from '../event-streams/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Route } from '../http/index.ts';
import { counter } from '../lib/metrics.ts';
import type { ReviewSource } from '../reviews/index.ts';
import { resumeBudgetWaits } from './budget-waits.ts';
import { bulkActionLoop } from './bulk-actions/bulk-actions.ts';
import { bulkActionRoutes } from './bulk-actions/routes.ts';
import { bulkActionsChannel, deleteOldBulkActions } from './bulk-actions/store.ts';
import { workItemCalls } from './calls.ts';
import { workItemListRoutes } from './list/routes.ts';
import { messageRoutes } from './message-routes.ts';
import { workItemAttention } from './overview/attention.ts';
import { WorkItemNumbers } from './overview/numbers.ts';
import { workItemPageRoutes } from './page/routes.ts';
import { workItemReviews } from './review-source.ts';
import { type WorkItemNeeds, workItemRoutes } from './routes.ts';
import type { Status } from './states.ts';
import { stepRoutes } from './step-routes.ts';
import { deleteFinishedWorkItems, wakeWorkers } from './store.ts';
import { streamRoutes } from './stream-routes.ts';
import { listLastHappenings } from './stream-store.ts';
import { cancelOpenWorkItems } from './work-items.ts';

export { workItemCalls } from './calls.ts';
export type { WorkItemStart } from './running.ts';
export { workItemRuns } from './runs.ts';
export { publicMessage, publicWorkItem, toWorkItemResponse } from './schemas.ts';
export * as workItemSql from './sql.ts';
export { startAt } from './start.ts';
export { statuses } from './states.ts';
export { cancelsChannel, type WorkItem, type WorkItemOutcome, workItemsChannel } from './store.ts';

interface Needs {
  agents: Agents;
  budgets: Pick<Budgets, 'onRoom'>;
  callbacks: Pick<Callbacks, 'store' | 'usedBy'>;
  observability: Pick<WorkItemNeeds, 'traceLinks'>;
  openStreams: OpenStreams;
}

type Calls = typeof workItemCalls;

export interface WorkItems extends Feature, Calls {
  /** Counts a run that ended on this replica, by the status that it left its Work Item in. */
  onFinished(status: Status): void;
  /** The operations of its pages, which the document lists with those of the application. */
  pageRoutes: readonly Route[];
  overview: { attention: typeof workItemAttention; numbers: WorkItemNumbers };
  /** For reviews. */
  reviews: ReviewSource;
}

/**
 * Interval at which streams look for happenings, in milliseconds: their events are at most a second old. A notification
 * of every change would slow every firing and every step, whether or not someone follows.
 */
const lookEveryMs = 500;

/** Work Items: their API and their history. Schedules create them too, and workers execute them. */
export const createWorkItems = (
  { db, log }: Services,
  { agents, budgets, callbacks, observability, openStreams }: Needs,
): WorkItems => {
  budgets.onRoom(() => resumeBudgetWaits(db));
  const needs: WorkItemNeeds = { callbacks: callbacks.store, traceLinks: observability.traceLinks };
  callbacks.usedBy(workItemCalls);
  agents.onDelete(cancelOpenWorkItems);
  agents.onSettings(wakeWorkers);
  const watcher = new Watcher({
    db,
    log,
    name: 'Work Item streams',
    look: listLastHappenings,
    everyMs: lookEveryMs,
  });
  const finished = counter(
    'agent_platform_work_items_finished_total',
    'Runs of Work Items that ended on this replica, by the status that they left the Work Item in',
    ['status'],
  );
  // A series that appears with 1 shows no increase to an alert: those that are watched begin at 0.
  for (const status of ['COMPLETED', 'NEEDS_REVIEW', 'INDETERMINATE', 'ERROR', 'CANCELLED']) {
    finished.inc({ status }, 0);
  }
  const bulkActions = bulkActionLoop(db, log);
  return {
    ...workItemCalls,
    tag: { name: 'Work Items', description: 'What a Worker agent has to do, is doing or has done.' },
    routes: [
      ...workItemRoutes(db, needs),
      ...stepRoutes(db),
      ...messageRoutes(db),
      ...bulkActionRoutes(db, log),
      ...streamRoutes({ db, watcher, openStreams }),
    ],
    pageRoutes: [...workItemListRoutes(db), ...workItemPageRoutes(db, needs)],
    overview: { attention: workItemAttention, numbers: new WorkItemNumbers() },
    reviews: workItemReviews,
    metrics: [finished],
    retention: [
      (tx, settings, limit) => deleteFinishedWorkItems(tx, settings.WORK_ITEM_RETENTION_DAYS, limit),
      (tx, _settings, limit) => deleteOldBulkActions(tx, limit),
    ],
    loops: [
      { role: 'api', start: () => watcher.start(), stop: () => watcher.stop(), pass: () => watcher.pass() },
      {
        role: 'api',
        start: () => void bulkActions.start(),
        stop: () => bulkActions.stop(),
        pass: () => bulkActions.pass(),
      },
    ],
    start: async () => db.listen(bulkActionsChannel, () => bulkActions.wake()),
    onFinished: (status) => finished.inc({ status }),
  };
};
