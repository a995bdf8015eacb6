import { LRUCache } from 'lru-cache';
import type { Database } from '../database/index.ts';
import { counter, type Metric } from '../lib/metrics.ts';
import type { Via } from '../runs/index.ts';
import type { ReviewState } from './store.ts';

/** The channel that says that a review was closed; the payload is its id. */
export const reviewsChannel = 'reviews';

interface Closing {
  state: ReviewState;
  via: Via | 'system';
}

/**
 * Closings of transactions of this process that may not have committed yet. Of one that is rolled back no notification
 * comes: it is never counted, and makes room for others.
 */
export const countedClosings = new LRUCache<string, Closing>({ max: 10_000 });

/** Counts the closings that this replica commits. */
export const createClosings = (db: Database): { metric: Metric; listen(): void } => {
  const metric = counter(
    'agent_platform_review_closings_total',
    'Reviews that this replica closed, by the way of the decision and the state that they were left in; `system`: the platform withdrew them.',
    ['via', 'state'],
  );
  const withdrawn = ['api', 'console', 'system'] as const;
  for (const via of ['api', 'console', 'slack'] as const) metric.inc({ via, state: 'decided' }, 0);
  for (const via of withdrawn) metric.inc({ via, state: 'withdrawn' }, 0);
  metric.inc({ via: 'expiry', state: 'expired' }, 0);
  return {
    metric,
    listen: () =>
      db.listen(reviewsChannel, (id) => {
        const closing = id === null ? undefined : countedClosings.get(id);
        if (id === null || !closing) return;
        countedClosings.delete(id);
        metric.inc({ ...closing });
      }),
  };
};
