import { hostname } from 'node:os';
import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import type { CurrentSettings } from '../settings/index.ts';
import {
  cancelsChannel,
  claimWorkItems,
  lookForWork,
  recoverLost,
  type WorkItem,
  workItemsChannel,
} from '../work-items/index.ts';
import { workItemBatches } from './work-item-batches.ts';
import { workItemRun } from './work-item-run.ts';
import type { WorkSource } from './worker.ts';

/** Work Items, for the worker of this replica. */
export const workItemSource = (
  { db, log, settings }: { db: Database; log: Logger; settings: CurrentSettings },
  onFinished?: (status: WorkItem['status']) => void,
): WorkSource<WorkItem, WorkItem['status']> => {
  const batches = workItemBatches(db);
  const owner = `${hostname()}:${process.pid}`;
  return {
    name: 'work items',
    channel: workItemsChannel,
    cancelsChannel,
    limit: () => settings.get().MAX_CONCURRENT_WORK_ITEMS,
    leaseSeconds: () => settings.get().WORK_ITEM_LEASE_SECONDS,
    recover: recoverLost,
    claim: (tx, limit, leaseSeconds) => claimWorkItems(tx, { owner, limit, leaseSeconds }),
    look: lookForWork,
    hold: (item, leaseSeconds) => workItemRun(db, log, batches, item, leaseSeconds),
    onFinished,
  };
};
