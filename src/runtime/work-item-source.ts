import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import type { CurrentSettings } from '../settings/index.ts';
import {
  cancelsChannel,
  type WorkItem,
  workItemCalls,
  workItemRuns,
  workItemsChannel,
} from '../work-items/index.ts';
import { workItemBatches } from './work-item-batches.ts';
import { workItemRun } from './work-item-run.ts';
import type { WorkSource } from './worker.ts';

/** Work Items, for the worker of this replica. */
export const workItemSource = (
  { db, log, settings }: { db: Database; log: Logger; settings: CurrentSettings },
  onFinished?: (status: WorkItem['status']) => void,
): WorkSource<WorkItem> => {
  const batches = workItemBatches(db);
  return {
    name: 'work items',
    runs: { ...workItemRuns, claim: workItemCalls.claim },
    channel: workItemsChannel,
    cancelsChannel,
    limit: () => settings.get().MAX_CONCURRENT_WORK_ITEMS,
    hold: (item, leaseSeconds) => workItemRun(db, log, batches, item, leaseSeconds),
    onFinished,
  };
};
