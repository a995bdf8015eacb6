import type { Tx } from '../database/index.ts';
import { reviewCalls, type Stay } from '../reviews/index.ts';
import type { Moved, MoveReason, ReviewEnd } from '../runs/index.ts';
import { listRequesters } from './history-store.ts';
import { reviewStatuses, type Status } from './states.ts';
import type { WorkItem } from './store.ts';

/** The reviews of Work Items: each stay in a status that waits for a person is one. */

export const waits = (status: Status): boolean => (reviewStatuses as readonly Status[]).includes(status);

/** A Work Item that waits for a person, as the one who opens its review needs it. */
export const stayOf = (tx: Tx, item: WorkItem): Stay => ({
  source: 'work_item',
  id: item.id,
  conversation_id: null,
  agent_id: item.agent_id,
  agent_version: item.agent_version,
  name: item.work_item_name,
  owner_id: null,
  reason: item.review_reason,
  approvals: item.pending_approvals ?? [],
  isIndeterminate: item.status === 'INDETERMINATE',
  requesters: async () => [item.created_by, ...(await listRequesters(tx, item.id))],
});

/** Closes the reviews of Work Items that wait no more, and opens those of Work Items that wait from now on. */
export const recordReviews = async (
  tx: Tx,
  rows: readonly Moved<WorkItem>[],
  principal: MoveReason<WorkItem>['principal'],
  end: ReviewEnd | undefined,
): Promise<void> => {
  const left = rows.filter((row) => waits(row.from_status) && !waits(row.status));
  await reviewCalls.close(
    tx,
    'work_item_id',
    left.map(({ id }) => id),
    principal,
    end,
  );
  const begun = rows.filter((row) => !waits(row.from_status) && waits(row.status));
  const opened = await reviewCalls.open(
    tx,
    begun.map((row) => stayOf(tx, row)),
  );
  for (const row of begun) row.open_review = opened.get(row.id) ?? null;
};
