import type { Query } from '../../api/request.ts';
import { oneOf, searchSchema, text, texts } from '../../app/search.ts';
import { workItemsPath } from '../work-items/paths.ts';

export const reviewOrders = ['waiting', 'created'] as const;

export const reviewSearch = searchSchema({ agent_id: texts, sort: oneOf(reviewOrders), next: text });

/** The statuses in which a Work Item waits for a person. */
export const waitingStatuses = ['NEEDS_REVIEW', 'INDETERMINATE'] as const;

/** What the page asks for. */
export const reviewRequest = ({ agent_id, sort = 'waiting', next }: ReturnType<typeof reviewSearch>) => ({
  path: workItemsPath,
  query: { status: waitingStatuses, agent_id, sort, next, counts: 1 } as Query,
});
