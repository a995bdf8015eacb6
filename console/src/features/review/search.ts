import { oneOf, searchSchema, text, texts } from '../../routing/search.ts';

export const reviewOrders = ['waiting', 'created'] as const;

export const reviewSearch = searchSchema({ agent_id: texts, sort: oneOf(reviewOrders), next: text });

/** The statuses in which a Work Item waits for a person. */
export const waitingStatuses = ['NEEDS_REVIEW', 'INDETERMINATE'] as const;

export const reviewQuery = ({ agent_id, sort = 'waiting', next }: ReturnType<typeof reviewSearch>) => ({
  status: waitingStatuses,
  agent_id,
  sort,
  next,
  counts: '1' as const,
});
